/** Chinese for descriptions of the server's other pages and paths, by the English text. */
export const CHINESE_ANSWERS: Readonly<Record<string, string>> = {
  'How many documents wait to be embedded': '等待向量化的文档数',
  "List the models of the tenant's channel; believed for a minute":
    '列出租户通道的模型，结果保留一分钟',
  'Read the settings of the server': '读取服务器设置',
  'Change settings of the server at once': '修改服务器设置，立即生效',
  'Use a part of the server once': '试用一次服务器的某个部分',
  'The backup': '备份',
  'The server in numbers': '以数字表示的服务器状态',
  'List the backups of the server': '列出服务器的备份',
  'Make a backup now': '立即备份',
  'Download a fresh backup, encrypted by a passphrase': '下载一份新的备份，以口令加密',
  'Find model servers on this machine': '查找本机上的模型服务器',
  'Look for a model pack on this machine': '查找本机上的模型包',
  'List the models of an address': '列出某个地址的模型',
  'List everybody who can sign in': '列出所有可以登录的人',
  'Where stock voice boards start, and which are connected': '成品语音板的接入地址和已连接的语音板',
  'Whether the model of the tenant answers; nothing is stored':
    '租户的模型是否应答；不保存任何内容',
  'Ask an app as a visitor of its share': '以分享链接访客的身份向应用提问',
  [[
    'Server-Sent Events; the data of each is JSON with its type field: sources (titles of the',
    'documents that the answer draws on), passages (the texts that the answer cites,',
    'each with its number: `[1]` has 1; whenever it cites one more), llm_delta (text), restart (the text so far is void),',
    'then llm_end (reply, the whole answer, and seq, its number in the session) or error ' +
      '(message and code). At most 10 a minute',
    'from one address and as many a day as the share allows: 429 with Retry-After.',
  ].join(' ')]: [
    'Server-Sent Events，每个事件的数据是带 type 字段的 JSON：sources（回答所依据文档的标题）、',
    'passages（回答引用的段落文字，各带编号 number，`[1]` 为 1；每多引用一段就发送一次）、',
    'llm_delta（text）、restart（此前的文字作废），最后是 llm_end（reply 为完整的回答，seq 为它在会话中的序号）或',
    'error（message 和 code）。同一地址每分钟最多 10 次，每天的次数由分享决定；超出时返回 429 和 Retry-After。',
  ].join(''),
  'The picture, as it came': '图片，与发送时相同',
  'mp3, 32 kHz, 128 kbps': 'mp3，32 kHz，128 kbps',
  'PCM s16le, 32 kHz, mono': 'PCM，有符号 16 位小端，32 kHz，单声道',
  'base64url of sha256(code_verifier), without padding':
    'sha256(code_verifier) 的 base64url，不带填充',
  S256: '固定为 S256',
  'deep-link scheme of the app': '应用的深链接协议名',
  'The session that remembers the conversation, percent-encoded; the body goes before it':
    '记住对话的会话，百分号编码；请求体中的优先',
  [[
    'A chat.completion, or chat.completion.chunk events that end with [DONE]. The object',
    'moonbase beside them has kb_refs, provider_fallback, tool_results, stats and',
    'usage_estimated; in events tool_call and tool_result, too.',
  ].join(' ')]: [
    'chat.completion，或以 [DONE] 结束的 chat.completion.chunk 事件。旁边的 moonbase 对象有',
    ' kb_refs、provider_fallback、tool_results、stats 和 usage_estimated，事件中还有 tool_call 和 tool_result。',
  ].join(''),
  [[
    'A response, or response.* events that end with [DONE]. Fields that are not named here',
    'repeat the request.',
  ].join(' ')]: 'response，或以 [DONE] 结束的 response.* 事件。此处未列出的字段与请求相同。',
  Refused: '不支持，会被拒绝',
  'What Moonbase tells of a turn beyond what OpenAI does':
    'Moonbase 在 OpenAI 的字段之外对这一轮的说明',
  'With encoding_format base64 a string, of little-endian float32':
    'encoding_format 为 base64 时是小端 float32 的字符串',
  'Sound as response_format says; it streams': 'response_format 指定格式的音频，边生成边返回',
  'The id of a voice': '音色 ID',
  'What was said, as response_format and stream say':
    '识别结果，形式由 response_format 和 stream 决定',
  [[
    'Revision 2026-07-28 and those before it over Streamable HTTP, without sessions. Protocol',
    'errors are JSON-RPC errors.',
  ].join(' ')]:
    'Streamable HTTP 上的 2026-07-28 及更早的版本，没有会话。协议错误是 JSON-RPC 错误。',
  'A JSON-RPC answer, or an event stream that ends with it (always for ask_agent)':
    'JSON-RPC 应答，或以它结束的事件流（ask_agent 总是后者）',
  'A notification was taken': '已收到通知',
  'A protocol error': '协议错误',
  'An unknown method': '未知的方法',
  'Absent in a notification': '通知中没有此字段',
  'Name of the tool': '工具的名称',
  'words or their beginnings in titles and texts, 1 to 200 characters; none: all conversations':
    '标题和内容中的词或词的开头，1 到 200 个字符；不填则为全部会话',
  'conversations returned, 1 to 100; default 50': '返回的会话数，1 到 100；默认 50',
  'next_before of the page before': '上一页的 next_before',
  'id of an entry, or ISO 8601; only entries before it':
    '记录 ID 或 ISO 8601 时间；只返回此前的记录',
  'entries returned, 1 to 200; default 50': '返回的记录数，1 到 200；默认 50',
  'who changed it: the e-mail address of a person, or the id of a key':
    '操作者：人的邮箱地址，或密钥 ID',
  'an action such as key.revoke, or all on a noun such as key':
    '操作，例如 key.revoke；只写 key 表示对密钥的全部操作',
}
