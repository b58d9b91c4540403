import type { ErrorCode } from '../../src/core/errors.ts'

export type ErrorParams = Readonly<Record<string, string>>

/**
 * English for each error code of the server, with placeholders such as `{max}` for its values.
 * Loaded with the English texts, and shown on the manual's page of error codes.
 */
export const ERROR_WORDS: Readonly<Record<ErrorCode, string>> = {
  invalid_json: 'The request is not valid JSON',
  invalid_request: 'The request is not valid',
  invalid_host: 'The Host header is not valid',
  unsupported_encoding: 'Compressed request bodies are not taken',
  body_too_slow: 'The request came too slowly; check the network and try again',
  client_closed: 'The connection was closed before the request was complete',
  field_missing: 'The field {field} is missing',
  field_required: 'The field {field} is required: {kind}',
  field_type: 'The field {field} has the wrong type; it should be {kind}',
  field_empty: '{field} must not be empty',
  field_too_long: '{field} is too long (at most {max} characters)',
  field_too_big: 'The field {field} is above its limit of {max}',
  field_too_small: 'The field {field} is below its limit of {min}',
  field_invalid: 'The value of the field {field} is not valid',
  unsupported_value: 'This value of the field {field} is not supported',
  item_not_kept:
    'The item that is referred to is not kept (too old, of another key, or not to be stored): send the whole item; in the AI SDK set store: false or use openai.chat',
  unsupported_parameter: 'The field {field} is not supported',
  model_context_exceeded:
    'The conversation is longer than the model can read; shorten it and try again',
  model_tools_refused:
    'The model refused the tools of the request: it may know no tools, or their parameters are not what it takes',
  context_length_exceeded: 'The texts of {field} are too long together (at most {max} characters)',
  input_token_ids:
    'The input has to be text, not token ids; in LangChain set check_embedding_ctx_length=False',
  speech_format: 'The response_format has to be mp3, wav, pcm or opus',
  temperature_range: 'The temperature is a number from 0 to {max}, or null',
  daily_tokens_range: 'daily_tokens is a whole number from 0 to {max}; 0 is no limit',
  rate_limit_range: 'The rate limit is a whole number from 0 to {max}; 0 is unlimited',
  too_many_tools: 'At most {max} tools can be named',
  too_many_images: 'At most {max} images',
  image_type: 'Each image has to be a string',
  image_form: 'Each image has to be an https address or data:image/…;base64 data',
  image_host_internal: 'Images must not be at internal addresses',
  image_too_large: 'An image is too large (at most {max} MB each)',
  image_not_base64: 'The data of an image is not valid base64',
  base_url_malformed: 'This is not a valid address',
  base_url_scheme: 'The address has to begin with http:// or https://',
  base_url_credentials: 'The address must not hold a user name or password',
  base_url_internal:
    'Internal addresses are refused, unless whoever runs this server allows the host (System, private hosts)',
  provider_not_configured: 'No model channel of your own is set up',
  form_invalid: 'The request body should be a multipart/form-data form',
  time_zone_unknown: 'The time zone is unknown; give a name such as Europe/Berlin',
  file_failed: 'The file could not be read; send another one',
  file_not_ready: 'The file is still being read; try again soon',
  file_empty: 'The file is empty',
  url_malformed: '{field} is not a valid address',
  url_scheme: '{field} has to begin with http:// or https://',
  url_credentials: '{field} must not hold a user name or password',
  url_internal:
    'Internal addresses are refused, unless whoever runs this server allows the host (System, private hosts)',
  not_refreshable: 'Only web pages can be checked again',
  too_many_items: '{field} takes at most {max} items',
  mcp_name_form:
    'The name takes lower-case letters, digits and single underscores, at most 20 characters',
  name_taken: 'The name {name} is taken; choose another one',
  mcp_name_taken: 'There is an MCP server of this name already',
  mcp_unreachable: 'The MCP server cannot be reached, or has a fault',
  mcp_timeout: 'The MCP server did not answer in time',
  mcp_refused:
    'The MCP server refused access; check the name and the value of the header, and whether it takes this host name',
  mcp_malformed: 'What answers at this address does not speak MCP',
  mcp_outdated: 'The server speaks only the old HTTP+SSE; start it with Streamable HTTP',
  mcp_too_large: 'The answer of the MCP server is too large',
  mcp_guarded: 'The address of the MCP server is internal',
  mcp_tool_unusable: 'This MCP tool cannot be used',
  mcp_undecryptable: 'The value of the header cannot be decrypted; enter it again',
  audio_empty: 'The recording is empty',
  audio_not_base64: 'audio_b64 is not valid base64',
  turn_running: 'The turn is still running; stop it first',
  doc_id_missing: 'The id of the document is missing',
  query_invalid: 'The filter {field} is malformed',
  format_version: 'This format_version is not supported; only 1 is',
  email_invalid: 'This is not a valid e-mail address',
  challenge_method: 'Only S256 is supported as code_challenge_method',
  challenge_invalid: 'The code_challenge is malformed',
  role_invalid: 'role is owner, editor or viewer',
  member_exists: 'This address is a member already, or invited',
  last_owner: 'One owner who has signed in must stay',
  sole_owner:
    'This person is the only owner of a workspace with other members: make somebody else its owner first',
  share_origin:
    'Each of origins is the origin of a site: http or https, host and port, without a path or *',
  share_turns_range: 'daily_turns is a whole number from 1 to {max}',
  share_expiry: 'expires_at is a time to come (ISO 8601), or null',
  share_session: 'session_id is share- and 16 to 100 letters, digits, - or _',
  consent_missing: 'This page is out of date: start again from the app',
  app_scheme_refused: 'This app_scheme is not allowed',
  unauthorized: 'No valid credential',
  invalid_key: 'The API key is missing, unknown or revoked',
  not_signed_in: 'You are not signed in, or your sign-in has ended',
  login_code_wrong: 'The code is wrong or has expired',
  exchange_code_wrong: 'The code is not valid or has expired',
  pairing_code_wrong: 'The digits are not valid or have expired',
  activation_code_wrong: 'The activation code is not valid or has expired',
  device_deleted: 'The device was deleted',
  forbidden: '{who} may not call this endpoint',
  forbidden_key_kind: '{who} may not manage anything',
  origin_refused:
    'This port does not accept that host name or origin of a page (MB_OLLAMA_ORIGINS).',
  forbidden_role: 'Your role in this workspace does not allow this',
  setting_locked: '{field} is set by the environment and cannot be changed here',
  setting_unknown: '{field} is no setting of the console',
  own_account: 'You cannot disable or delete your own account',
  last_operator: 'At least one person who runs this server must remain able to sign in',
  system_not_available: 'The server has no encryption key, so the console cannot keep its settings',
  above_own_limit: '{field} may not be above the limit of the key in use ({max}), or without one',
  operator_only: 'Only people who run this server may do this',
  cross_origin:
    'Refused: this page has another address than the server believes to have. ' +
    'Behind a reverse proxy, set MB_PUBLIC_URL.',
  quota_refreshed: 'The limit of {max} pages that are checked by themselves is reached',
  quota_docs: 'The limit of {max} documents is reached',
  quota_apps: 'The limit of {max} apps is reached',
  quota_devices: 'The limit of {max} devices is reached',
  quota_mcp_servers: 'The limit of {max} MCP servers is reached',
  quota_personas: 'The limit of {max} personas is reached',
  quota_keys: 'The limit of {max} keys is reached, revoked ones included',
  quota_shares: 'The limit of {max} shares of this app is reached',
  quota_files: 'There are too many files (at most {max}); delete some that are not needed',
  quota_prompts: 'There are too many prompts (at most {max})',
  quota_members: 'The limit of {max} members is reached, invitations included',
  not_found: '{what} does not exist',
  model_not_found: 'There is no model of this name',
  login_method_unknown: 'This way of signing in is not set up',
  method_not_allowed: 'The path does not know this method',
  tenant_changed:
    'This browser went to another workspace in another window: reload the page. Nothing was saved',
  activation_code_used: 'The activation code was used before',
  body_too_large: 'The request is too large',
  doc_too_large: 'The document is too large (at most {max} KB)',
  file_too_large: 'The file is too large (at most {max} MB)',
  file_unsupported: 'This kind of file is not supported',
  audio_too_large: 'The recording is too large (at most {max} MB)',
  audio_too_long: 'The recording is too long (at most {max} minutes)',
  budget_spent: 'The budget of today is spent',
  rate_limited: 'Too many requests; try again shortly',
  rate_limited_email: 'Too many codes for this address; try again later',
  rate_limited_guesses:
    'Too many wrong codes for this address; try again later or sign in another way',
  rate_limited_activation: 'Too many activations; try again shortly',
  import_running: 'Another import is running; try again when it has ended',
  too_many_waiting: 'Too many sources are waiting (at most {max}); try again shortly',
  internal: 'The server had a fault',
  disk_full: 'The disk of the server is full; nothing was stored. Try again later.',
  turn_failed: 'The server had a fault. Try again.',
  stopped: 'The answer was stopped; nothing of this turn is stored',
  canceled: 'The request was canceled',
  tts_unavailable: 'Speech synthesis is not available; try again shortly',
  tts_not_configured: 'Speech synthesis is not set up on this server',
  asr_unavailable: 'Speech recognition is not available; try again shortly',
  asr_not_configured: 'Speech recognition is not set up on this server',
  speech_not_understood: 'Nothing was understood; please say it again',
  turn_unavailable: 'The conversation is not available; try again shortly',
  embedding_unavailable: 'The embedding of the knowledge base is not available; try again shortly',
  model_retry_exhausted:
    'The model is busy or cannot be reached, after several tries. Try again later.',
  model_upstream_4xx:
    'The model refused the request. Check the channel: its address, its key and the name of the ' +
    'model.',
  model_upstream_5xx: 'The model has a fault at the moment. Try again later.',
  model_channel_unavailable: 'The model channel cannot be used. Check how it is set up.',
  model_provider_error: "The model's answer broke off or was malformed. Try again.",
  database_stopped: 'The database is not available at the moment; try again shortly',
  turn_memory_full: 'The server is busy: the turns under way hold too much. Try again shortly.',
  turn_too_long: 'This turn took too long and was ended. Try again.',
  model_channel_changed:
    'The model channel was changed meanwhile, so this turn was ended. Try again.',
  session_full:
    'This session holds too much and cannot be folded now. Try again later or begin another one.',
  server_stopping: 'The server is stopping; try again shortly',
  too_many_connections: 'The server is busy: too many connections are open; try again later',
  too_many_streams: 'The server is busy; try again shortly',
  memory_full: 'The server is busy: too many large requests. Try again shortly.',
  encryption_not_configured:
    'The server has no encryption key, so own model channels cannot be used',
  mcp_not_available: 'The server has no encryption key, so MCP servers cannot be used',
  console_not_built: 'The console is not built: run npm start, or bun scripts/build-web.ts',
}

/** English for the parameters that are words, by the name of the parameter. */
export const VALUE_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  kind: {
    string: 'a string',
    string_or_null: 'a string or null',
    string_array: 'an array of strings',
    string_or_array: 'a string or an array of strings',
    string_array_or_null: 'an array of strings or null',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
    boolean_or_null: 'true, false or null',
    array: 'an array',
    object: 'an object',
  },
  what: {
    path: 'The path',
    app: 'The app',
    device: 'The device',
    doc: 'The document',
    key: 'The key',
    persona: 'The persona',
    source: 'The source',
    session: 'The conversation',
    turn: 'The turn',
    member: 'The member',
    invitation: 'The invitation',
    share: 'The share',
    tenant: 'The workspace',
    mcp_server: 'The MCP server',
    mcp_tool: 'The MCP tool',
    person: 'The person',
    file: 'The file',
    prompt: 'The prompt',
  },
  who: {
    general: 'A general key',
    app: 'An app key',
    device: 'A device key',
    session: 'A session',
  },
}

/** The English for an error of the server; null when the code or a value is unknown. */
export function errorInEnglish(code: string, params: ErrorParams): string | null {
  const words: string | undefined = (ERROR_WORDS as Readonly<Record<string, string>>)[code]
  if (words === undefined) return null
  const text = words.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = params[name]
    return value === undefined ? whole : (VALUE_WORDS[name]?.[value] ?? value)
  })
  return /\{\w+\}/.test(text) ? null : text
}
