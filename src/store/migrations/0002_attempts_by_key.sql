-- A search for an environment is found by its key alone: whose it was is part of the answer.
CREATE INDEX attempts_by_key ON attempts (stage, input_key);
