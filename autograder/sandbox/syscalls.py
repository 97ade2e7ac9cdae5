"""The system calls that student code may make, as a filter the kernel can load."""

from __future__ import annotations

import errno
import socket
import tempfile
from functools import cache

_CLONE_THREAD = 0x00010000
_LOW_32_BITS = 0xFFFFFFFF
# Beside the type there may be flags.
_SOCKET_TYPE = 0xF
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5451, 0x5450)
# Duplicate, flags, locks, pipe sizes. Not F_SETOWN and F_SETSIG: with them a file that becomes
# ready makes the kernel send any signal, SIGKILL too, to any process of the same user.
_FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032, 1034)
# Names of threads and of memory. Not PR_SET_PDEATHSIG, which would let a process outlive its zygote.
_PRCTLS = (15, 16, 0x53564D41)

# fmt: off
ALLOWED = (
    "access", "alarm", "arch_prctl", "brk", "capget", "chdir", "clock_getres", "clock_gettime",
    "clock_nanosleep", "close", "close_range", "copy_file_range", "dup", "dup2", "dup3",
    "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2", "exit", "exit_group",
    "faccessat", "faccessat2", "fallocate", "fdatasync", "flock", "fstat", "fsync",
    "ftruncate", "futex", "get_robust_list", "getcpu", "getcwd", "getdents64", "getegid", "geteuid",
    "getgid", "getgroups", "getitimer", "getpgrp", "getpid", "getppid", "getpriority", "getrandom",
    "getresgid", "getresuid", "getrusage", "getsid", "getsockname", "getsockopt", "gettid",
    "gettimeofday", "getuid", "link", "lseek", "lstat", "madvise", "membarrier", "mincore", "mkdir",
    "mkdirat", "mmap", "mprotect", "mremap", "msync", "munmap", "nanosleep", "newfstatat", "open",
    "openat", "pause", "pipe", "pipe2", "poll", "ppoll", "pread64", "preadv", "pselect6",
    "pwrite64", "pwritev", "read", "readlink", "readlinkat", "readv", "recvfrom", "recvmsg", "rename",
    "renameat", "renameat2", "restart_syscall", "rmdir", "rseq", "rt_sigaction", "rt_sigprocmask",
    "rt_sigreturn", "rt_sigtimedwait", "sched_getaffinity", "sched_getparam", "sched_getscheduler",
    "sched_yield", "select", "sendfile", "sendmsg", "sendto", "set_robust_list", "set_tid_address",
    "setitimer", "setsockopt", "shutdown", "sigaltstack", "stat", "statx", "symlink", "sysinfo", "time",
    "timerfd_create", "timerfd_settime", "times", "umask", "uname", "unlink", "unlinkat", "wait4",
    "waitid", "write", "writev",
)
"""
Calls allowed without conditions; a trace of notebooks with plots, threads and
top-level await needs about half of them. Files are bounded by Landlock or the
mount, so calls that Landlock does not see (chmod, chown, utime, xattr,
truncate by path, kill) are not here.
"""
# fmt: on


@cache
def build_filter() -> bytes:
    """
    Return the filter as a program of the kernel's packet filter.

    Whatever is not allowed fails with EPERM, so that Python raises an error
    that a student can read. New threads are allowed, new processes are not.

    Returns
    -------
    bytes
        Eight bytes for each instruction.

    Raises
    ------
    RuntimeError
        If libseccomp is not on this machine.
    OSError
        If libseccomp cannot build the filter.
    """
    import pyseccomp as sc  # noqa: PLC0415 - importing it fails where libseccomp is missing

    rules = sc.SyscallFilter(sc.ERRNO(errno.EPERM))
    for name in ALLOWED:
        try:
            rules.add_rule(sc.ALLOW, name)
        except (OSError, ValueError):
            # Not every processor has every call.
            continue
    rules.add_rule(sc.ALLOW, "clone", sc.Arg(0, sc.MASKED_EQ, _CLONE_THREAD, _CLONE_THREAD))
    # Its flags lie in memory, where no filter sees them; the C library falls back to clone.
    rules.add_rule(sc.ERRNO(errno.ENOSYS), "clone3")
    # asyncio wakes itself up through a pair of sockets. Streams only: a datagram can be addressed to
    # any socket that has a name, and needs no connection for it.
    streams = sc.Arg(1, sc.MASKED_EQ, _SOCKET_TYPE, socket.SOCK_STREAM)
    rules.add_rule(sc.ALLOW, "socketpair", sc.Arg(0, sc.EQ, socket.AF_UNIX), streams)
    # Reading limits only.
    rules.add_rule(sc.ALLOW, "prlimit64", sc.Arg(2, sc.EQ, 0))
    for name, position, values in (("ioctl", 1, _IOCTLS), ("fcntl", 1, _FCNTLS), ("prctl", 0, _PRCTLS)):
        for value in values:
            rules.add_rule(sc.ALLOW, name, sc.Arg(position, sc.MASKED_EQ, _LOW_32_BITS, value))
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
