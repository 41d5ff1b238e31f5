"""Reading points: the options that say what is in the file, and what they do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from graspel.cli.options import option
from graspel.runtime.progress import announce

CONNECT_SECONDS = 10  # time in which a Dask scheduler must answer
READING = "Reading .npy .npz .csv .tsv .xlsx .parquet .feather .mtx .h5ad .zarr"


def split_names(names: str | None) -> tuple[str, ...]:
    """The names in a list with commas."""
    return tuple(name.strip() for name in (names or "").split(",") if name.strip())


def _parse_header(text: str) -> bool:
    if text not in ("yes", "no"):
        raise typer.BadParameter(f"{text!r} is neither yes nor no")
    return text == "yes"


@dataclass(frozen=True)
class NewTableOptions:
    """What the file of new points is like, whose columns are those of a model."""

    key: Annotated[
        str | None, option("The array to read, of .npz, .h5ad and .zarr", "NAME", default="X", panel=READING)
    ] = None
    header: Annotated[
        Any, option("Whether the first line of a .csv holds names", "yes|no", parser=_parse_header, panel=READING)
    ] = None
    id_column: Annotated[
        str | None, option("The column that names the points: its name or number", "COLUMN", panel=READING)
    ] = None

    def read_like(self, path: Path, reading: Any) -> Any:
        """Read new points as those of a model were read; a `Reading` says how, None that nothing was done to them."""
        import numpy as np

        from graspel.io.checks import UnusableFile
        from graspel.io.picture_files import list_pictures, read_pictures
        from graspel.io.table_roles import Reading, Roles
        from graspel.io.tables import read_table

        announce("reading", detail=path.name)
        if path.is_dir() and list_pictures(path):
            return read_pictures(path)
        like = reading or Reading(Roles())
        points = read_table(path, key=self.key, header=self.header, roles=Roles(self.id_column), like=like)
        if like.roles.impute not in (None, "median") and not hasattr(points.X, "toarray") and np.isnan(points.X).any():
            raise UnusableFile(
                f"{path} has empty cells, and those of the model were filled by the graph of its own points; fill them "
                "in, or learn the model with --impute median."
            )
        return points


@dataclass(frozen=True)
class TableOptions(NewTableOptions):
    """What the columns of a file are, and what is done to them."""

    label_column: Annotated[
        str | None, option("The column of known classes; it is no feature", "COLUMN", panel=READING)
    ] = None
    columns: Annotated[
        str | None, option("The columns that are features", "COLUMN,...", default="all", panel=READING)
    ] = None
    drop: Annotated[str | None, option("Columns to leave out", "COLUMN,...", panel=READING)] = None
    encode: Annotated[str | None, option("Compare categories, true/false and dates too", "onehot", panel=READING)] = (
        None
    )
    scale: Annotated[str | None, option("Bring all columns to one scale", "standard|robust", panel=READING)] = None
    impute: Annotated[str | None, option("Fill missing values", "graph|median", panel=READING)] = None

    def list_given(self, *apart: str) -> str:
        """The options that were given, apart from these."""
        given = (field.name for field in fields(self) if getattr(self, field.name) is not None)
        return ", ".join(f"--{name.replace('_', '-')}" for name in given if name not in apart)

    def read(self, path: Path, split_column: str | None = None, *, chooses: bool = False) -> Any:
        """Read the points from a file, a `PointTable`; the rows of a folder are read later, block by block.

        `chooses` says whether columns are prepared as they need it where no option says how.
        """
        from graspel.data.stored import open_folder
        from graspel.io.picture_files import list_pictures, read_pictures
        from graspel.io.table_roles import PointTable
        from graspel.io.tables import read_table

        announce("reading", detail=path.name)
        given = self.list_given("key", "header")
        if path.is_dir() and list_pictures(path):
            if self.list_given():
                raise ValueError(
                    f"{path} is a folder of pictures, which has no columns: leave out {self.list_given()}."
                )
            return read_pictures(path)
        reads_whole = (path / "obs").is_dir() or (given and path.suffix == ".zarr")  # AnnData; chosen columns
        if path.is_dir() and not reads_whole:
            if given:
                raise ValueError(f"{path} is a folder, whose columns are all features: leave out {given}.")
            return PointTable(open_folder(path, self.key), None, None)
        roles = replace(self._roles(), split_column=split_column, chooses=chooses)
        points = read_table(path, key=self.key, header=self.header, roles=roles)
        if self.impute != "graph" or hasattr(points.X, "toarray"):
            return points
        from graspel.estimators.imputer import GraspelImputer

        return points._replace(X=GraspelImputer(random_state=0).fit_transform(points.X), shown=None)

    def _roles(self) -> Any:
        from graspel.io.table_roles import Roles
        from graspel.runtime.parameters import check_choice

        if self.impute is not None:
            check_choice("impute", self.impute, ("graph", "median", "none"))
        return Roles(
            self.id_column,
            self.label_column,
            columns=split_names(self.columns),
            drop=split_names(self.drop),
            scale=self.scale,
            impute="keep" if self.impute == "graph" else self.impute,
            encode=self.encode,
        )

    def as_done(self, points: Any) -> TableOptions:
        """The options that read the same points where nothing is chosen."""
        if points.roles is None:
            return self
        done = {name: getattr(points.roles, name) for name in ("scale", "encode")}
        done["impute"] = "graph" if self.impute == "graph" else points.roles.impute
        return replace(self, **done, drop=",".join(points.roles.drop) or None)

    def changed(self) -> dict[str, Any]:
        """The options on which what was chosen stands."""
        return {name: getattr(self, name) for name in ("scale", "impute", "encode", "drop")}

    def write_reading(self, path: Path) -> str:
        """Python code that reads the same points as X.

        >>> print(TableOptions(drop="name", scale="standard").write_reading(Path("people.csv")))
        from pathlib import Path
        <BLANKLINE>
        from graspel.io.table_roles import Roles
        from graspel.io.tables import read_table
        <BLANKLINE>
        X = read_table(Path('people.csv'), roles=Roles(drop=('name',), scale='standard')).X
        """
        from graspel.io.picture_files import list_pictures

        options = {name: getattr(self, name) for name in ("key", "header") if getattr(self, name) is not None}
        own = {field.name: (getattr(self._roles(), field.name), field.default) for field in fields(self._roles())}
        roles = ", ".join(f"{name}={value!r}" for name, (value, default) in own.items() if value != default)
        given = [repr(str(path)), *(f"{name}={value!r}" for name, value in options.items())]
        if path.is_dir() and list_pictures(path):
            reading = f"from graspel.io.picture_files import read_pictures\n\nX = read_pictures(Path({given[0]})).X"
            return f"from pathlib import Path\n\n{reading}"
        if path.is_dir() and not roles and path.suffix != ".h5ad":
            return (
                f"from graspel.data.stored import open_folder\n\nX = open_folder({', '.join(given[:1])}, {self.key!r})"
            )
        given[0] = f"Path({given[0]})"
        imports = ["from graspel.io.tables import read_table"]
        if roles:
            imports.insert(0, "from graspel.io.table_roles import Roles")
            given.append(f"roles=Roles({roles})")
        reading = f"read_table({', '.join(given)}).X"
        if self.impute == "graph":
            imports.insert(0, "from graspel import GraspelImputer")
            reading = f"GraspelImputer(random_state=0).fit_transform({reading})"
        return "\n".join(["from pathlib import Path", "", *imports, "", f"X = {reading}"])

    def find_classes(self, labels: Path | None, points: Any, n_points: int, data: Path) -> list[Any] | None:
        """Return the known classes, from a file of their own or from a column of the table (None: a graph is given)."""
        from graspel.io.point_files import read_labels

        if labels is not None and self.label_column is not None:
            both = f"--labels {labels} and --label-column {self.label_column}"
            raise ValueError(f"{both} both give classes; leave one out.")
        if labels is not None:
            return read_labels(labels, n_points, data)
        return None if points is None else points.labels


# The options on which the graph depends.
OF_GRAPH = ("data", "metric", "settings", "random_state", *(field.name for field in fields(TableOptions)))


def make_index(X: Any, model: Any) -> Any:
    """The index of the points for this model, which searches the neighbors for everything at once."""
    from graspel.neighbors.index import NeighborIndex
    from graspel.report.inputs import count_listed

    given = {name: getattr(model, name) for name in ("metric", "random_state", "n_jobs")}
    return NeighborIndex(X, **given).expect(count_listed())


def save_with_reading(model: Any, points: Any, path: Path | None) -> None:
    """Save a model, if that was asked for, with how its points were read, so that new ones are read alike."""
    if path is not None:
        announce("writing", detail=path.name)
        model.reading_ = points.reading
        model.save(path)


@contextmanager
def open_on_cluster(data: Path, key: str | None, address: str) -> Iterator[Any]:
    """Connect to a Dask scheduler, and open a zarr array there: its chunks are read by the workers."""
    from graspel.data.stored import is_zarr_folder
    from graspel.io.checks import UnusableFile
    from graspel.io.table_roles import PointTable
    from graspel.runtime.optional import import_optional

    array = import_optional("dask.array", "dask", "The option --dask")
    distributed = import_optional("distributed", "dask", "The option --dask")
    import_optional("zarr", "zarr", "The option --dask")
    if not is_zarr_folder(data):
        raise UnusableFile(f"{data} is not a zarr array, which --dask needs; write the points as one first.")
    announce("reading", detail=data.name)
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise ValueError(f"--dask {address}: no Dask scheduler answers there; start one, or correct it.") from error
    with client:
        yield PointTable(array.from_zarr(str(data.resolve()), component=key), None, None)
