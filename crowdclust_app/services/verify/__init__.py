"""Verification: yes/no questions, their answers, aggregators, and learning from images."""
