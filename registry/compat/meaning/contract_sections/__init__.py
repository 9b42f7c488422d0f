"""Contract sections: what is compared of each key of a contract, one a file: facts, rules and questions."""
