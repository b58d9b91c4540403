-- How many searches of turns showed passages of a document, by day (days since the epoch).
CREATE TABLE kb_citation (
  doc_num INTEGER NOT NULL REFERENCES kb_doc (num) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (doc_num, day)
) STRICT, WITHOUT ROWID;
