/** Samples of streams by the end of the path. */
const STREAMS: Readonly<Record<string, string>> = {
  '/agent': `event: kb_refs
data: {"type":"kb_refs","refs":[{"doc_id":"…","title":"Opening hours","seq":0,"score":0.71,…}]}

event: llm_delta
data: {"type":"llm_delta","text":"We open "}

event: llm_delta
data: {"type":"llm_delta","text":"at nine."}

event: stats
data: {"type":"stats","iterations":1,"channel":"platform","input_tokens":212,"output_tokens":9,…}

event: llm_end
data: {"type":"llm_end","reply":"We open at nine."}`,
  '/chat/completions': `data: {"object":"chat.completion.chunk","model":"moonbase","choices":[
  {"index":0,"delta":{"role":"assistant","content":"We open "},"finish_reason":null}],…}

data: {…,"choices":[{"index":0,"delta":{"content":"at nine."},"finish_reason":null}],…}

data: {…,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],…}

data: [DONE]`,
  '/responses': `event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_…",…}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":4,"delta":"We open at nine.",…}

event: response.completed
data: {"type":"response.completed","sequence_number":8,"response":{"status":"completed",…}}`,
}

/** The sample for a path, such as that of /v1/agent. */
export const streamOf = (path: string): string | null =>
  STREAMS[path.replace(/^\/(v1|console)(?=\/)/, '')] ?? null
