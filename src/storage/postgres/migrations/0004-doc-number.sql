-- Several servers number documents.
CREATE SEQUENCE kb_doc_num;
SELECT setval('kb_doc_num', (SELECT coalesce(max(num), 0) + 1 FROM kb_doc), false);
