"""Lets SGLang's own server, scheduler and sampler start on a CPU without its CUDA packages.

`sgl_kernel` and `torchvision` are imported by it and not called for a dense text model with the torch backends; PyPI has
neither for the CPU build of torch. Any name of theirs is a class here, and using one says what is missing.
"""
import importlib.abc
import importlib.machinery
import sys
import types

VERSIONS = {"sgl_kernel": "0.4.10", "torchvision": "0.28.0"}


class Missing(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(name, (), {})

    def __call__(cls, *args, **kwargs):
        raise NotImplementedError(f"{cls.__name__} is a stub: this server runs without CUDA kernels")


class StubModule(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(name, (), {})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname, path=None, target=None):
        if fullname.split(".")[0] not in VERSIONS:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        module = StubModule(spec.name)
        module.__version__ = VERSIONS[spec.name.split(".")[0]]
        module.__path__ = []
        return module

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Finder())
