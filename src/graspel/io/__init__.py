"""Reading and writing files: tables, labels, coordinates and graphs; every file whole or not at all."""
