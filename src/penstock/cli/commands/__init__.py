"""Commands, one file each: options in, one call of a study, one report out. The list of all is `penstock.cli.table`."""
