"""Who runs the tasks of a diffusion: this process, others here, or a Dask cluster."""

from fdgcl.scale.executors.base import Executor, Task, WorkerError
from fdgcl.scale.executors.dask_cluster import Dask
from fdgcl.scale.executors.in_process import InProcess
from fdgcl.scale.executors.processes import Processes

__all__ = ["Dask", "Executor", "InProcess", "Processes", "Task", "WorkerError"]
