"""Annotations: findings about files of contracts, put where a person reads them, in every format CI knows."""
