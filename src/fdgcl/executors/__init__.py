"""Who runs the tasks of a diffusion: this process, others here, or a Dask cluster."""

from fdgcl.executors.base import Executor, Task, WorkerError
from fdgcl.executors.dask_cluster import Dask
from fdgcl.executors.in_process import InProcess
from fdgcl.executors.processes import Processes

__all__ = ["Dask", "Executor", "InProcess", "Processes", "Task", "WorkerError"]
