"""Generated vectors: isotropic Gaussian blobs around centres that are drawn from a cube, or uniform ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from stepgrid.drivers.vector_search.datasets.shape import UNIFORM, Shape

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]

SIDE = 10.0  # half of the cube's
REVISION = 1  # of what the same shape gives


def points(shape: Shape) -> tuple[Vectors, Vectors]:
    """(those that are indexed, queries): all are drawn alike, the last ones are queries."""
    import numpy as np

    draw = np.random.Generator(np.random.PCG64(shape.seed))
    drawn = _uniform(draw, shape) if shape.distribution == UNIFORM else _blobs(draw, shape)
    return drawn[: shape.rows], drawn[shape.rows :]


def _blobs(draw: Any, shape: Shape) -> Vectors:
    import numpy as np

    count = shape.rows + shape.queries
    centres = draw.uniform(-SIDE, SIDE, (shape.centres, shape.dimensions)).astype(np.float32)
    found: Vectors = draw.standard_normal((count, shape.dimensions), dtype=np.float32)
    found += centres[draw.integers(shape.centres, size=count)]
    return found


def _uniform(draw: Any, shape: Shape) -> Vectors:
    import numpy as np

    found: Vectors = draw.random((shape.rows + shape.queries, shape.dimensions), dtype=np.float32)
    return found
