"""Systems side by side: tasks, runs in processes of their own, tables."""
