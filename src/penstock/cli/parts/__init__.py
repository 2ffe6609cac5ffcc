"""What commands share: options, progress, output, running code of users, many runs."""
