"""Reading and writing files: tables, labels, coordinates and graphs. A file is written completely or not at all."""
