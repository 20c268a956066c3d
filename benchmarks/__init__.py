"""Speed and memory against the arithmetic that the job contains, and against rivals.

python -m benchmarks [limit rivals growth labels start | all]
"""
