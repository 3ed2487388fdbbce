"""Privacy budgets: accounts, composition, the ledger and plans."""
