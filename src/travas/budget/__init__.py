"""What was spent on which data set: accounts, composition, the ledger and plans."""
