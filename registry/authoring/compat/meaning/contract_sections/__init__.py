"""Contract sections: what is compared of each key of a contract, each with its facts, rules and questions."""
