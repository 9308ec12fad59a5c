-- Answers that also end the run which asked: few, and looked for before each step of a run.
CREATE INDEX prompt_records_stops ON prompt_records (request_id) WHERE instr(answer, '"stop":true') > 0;
