"""Speed and memory against the arithmetic that the job contains, and against rivals.

gpgc benchmark [limit rivals growth labels start | all]
"""
