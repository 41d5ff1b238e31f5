"""The steps of the method, one file each, in the order of the paper: prepare, neighbours, initial graph, joins, ..."""
