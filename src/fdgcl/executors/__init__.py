"""What runs tasks: this process, others on this machine, or a Dask cluster."""

from fdgcl.executors.base import Executor, Task, WorkerError
from fdgcl.executors.dask_cluster import Dask
from fdgcl.executors.in_process import InProcess
from fdgcl.executors.processes import Processes

__all__ = ["Dask", "Executor", "InProcess", "Processes", "Task", "WorkerError"]
