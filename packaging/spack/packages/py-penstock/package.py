# Copyright the penstock authors. Apache-2.0.
"""A recipe for Spack: `spack repo add packaging/spack`, then `spack install py-penstock`.

Versions of dependencies are those of pyproject.toml; a test compares them.
"""

from spack.package import *


class PyPenstock(PythonPackage):
    """Decide who gets the bandwidth of a shared parallel file system, and see what each choice costs."""

    pypi = (
        "penstock/penstock-0.1.0.tar.gz"  # until it is there: a source mirror with what `python -m build --sdist` makes
    )
    license("Apache-2.0")
    version("0.1.0")

    variant("plot", default=True, description="Plots and HTML reports")
    variant("parquet", default=True, description="Campaigns, and traces in Parquet")
    variant("optimum", default=False, description="The exact optimum")
    variant("buffers", default=False, description="Sizing of burst buffers with a port")
    variant("cluster", default=False, description="Campaigns on Dask or Slurm")
    variant("live", default=True, description="The controller: a faster event loop, and metrics")
    variant("traces", default=False, description="Darshan logs")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-hatchling@1.27:", type="build")
    depends_on("py-msgspec@0.20:", type=("build", "run"))
    depends_on("py-typer@0.15:", type=("build", "run"))
    with default_args(type="run"):
        depends_on("py-numba@0.68:0.68")
        depends_on("py-numpy@2.0:")
        depends_on("py-pydantic@2.10:")
        depends_on("py-pyyaml@6.0:")
        depends_on("py-rich@13.9:")
        depends_on("py-matplotlib@3.9:", when="+plot")
        depends_on("py-pyarrow@17:", when="+parquet")
        depends_on("py-ortools@9.12:", when="+optimum")
        depends_on("py-scipy@1.14:", when="+buffers")
        depends_on("py-clarabel@0.11:", when="+buffers")
        depends_on("py-dask@2025.1:", when="+cluster")
        depends_on("py-distributed@2025.1:", when="+cluster")
        depends_on("py-dask-jobqueue@0.9:", when="+cluster")
        depends_on("py-cryptography@42:", when="+cluster")
        depends_on("py-uvloop@0.21:", when="+live")
        depends_on("py-prometheus-client@0.21:", when="+live")
        depends_on("py-darshan@3.4.6:", when="+traces")
        depends_on("py-pyarrow@17:", when="+traces")
