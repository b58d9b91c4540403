/**
 * The one table of errors: code, HTTP status, and a short Chinese sentence that is safe to show
 * (specification, Errors). Every 4xx and 5xx carries its code in `X-Error-Code` and the values of
 * its sentence in `X-Error-Params`; `/openapi.json` lists the codes and the console picks its words
 * by them. Codes are part of the API: they may be added, not renamed.
 */
export const ERRORS = {
  invalid_json: [400, '请求体格式错误（bad request body）'],
  invalid_request: [400, '请求参数错误'],
  invalid_host: [400, 'Host 请求头无效'],
  unsupported_encoding: [400, '不支持压缩的请求体（Content-Encoding）'],
  body_too_slow: [400, '请求体传输过慢，请检查网络后重试'],
  client_closed: [400, '连接已断开，请求未完成'],
  field_missing: [400, '缺少字段 {field}'],
  field_required: [400, '字段 {field} 必填，应为{kind}'],
  field_type: [400, '字段 {field} 类型错误，应为{kind}'],
  field_empty: [400, '{field} 不能为空'],
  field_too_long: [400, '{field} 过长（最多 {max} 个字符）'],
  field_too_big: [400, '字段 {field} 超出上限 {max}'],
  field_too_small: [400, '字段 {field} 低于下限 {min}'],
  field_invalid: [400, '字段 {field} 的值无效'],
  temperature_range: [400, '字段 temperature 应为 0 到 {max} 的数字或 null'],
  rate_limit_range: [400, '字段 rate_limit 应为 0 到 {max} 的整数（0 表示不限）'],
  too_many_tools: [400, 'tools_enabled 最多 {max} 项'],
  too_many_images: [400, 'images 最多 {max} 张'],
  image_type: [400, 'images 的每一项应为字符串'],
  image_form: [400, 'images 的每一项应为 https 地址或 data:image/...;base64 数据'],
  image_host_internal: [400, 'images 的地址不能指向内部主机'],
  image_too_large: [400, '图片过大（每张最多 {max} MB）'],
  image_not_base64: [400, '图片数据不是有效的 base64'],
  base_url_malformed: [400, 'base_url 不是有效的网址'],
  base_url_scheme: [400, 'base_url 只支持 http 或 https'],
  base_url_credentials: [400, 'base_url 不能包含用户名或密码'],
  base_url_internal: [400, 'base_url 不能指向内部主机'],
  provider_not_configured: [400, '尚未配置自带模型通道'],
  audio_empty: [400, '音频不能为空'],
  audio_not_base64: [400, 'audio_b64 不是有效的 Base64'],
  doc_id_missing: [400, '缺少文档 id'],
  query_invalid: [400, '查询参数 {field} 格式错误'],
  format_version: [400, '不支持的 format_version，仅支持 1'],
  email_invalid: [400, '邮箱地址格式不正确'],
  challenge_method: [400, 'code_challenge_method 只支持 S256'],
  challenge_invalid: [400, 'code_challenge 格式不正确'],
  app_scheme_refused: [400, 'app_scheme 未被允许'],

  unauthorized: [401, '未授权：缺少有效凭证'],
  // Missing, malformed, unknown and revoked keys are one and the same to whoever tries them.
  invalid_key: [401, '未授权：API 密钥缺失、无效或已被吊销'],
  not_signed_in: [401, '未登录或登录已过期'],
  login_code_wrong: [401, '验证码错误或已过期'],
  exchange_code_wrong: [401, '授权码无效或已过期'],
  activation_code_wrong: [401, '激活码无效或已过期'],
  device_deleted: [401, '未授权：设备已被删除'],

  forbidden: [403, '{who}无权调用此接口'],
  forbidden_key_kind: [403, '{who}无管理权限'],
  cross_origin: [403, '跨站请求被拒绝：来源与本站地址不符（经反向代理访问时请设置 MB_PUBLIC_URL）'],
  quota_docs: [403, '知识库文档数已达上限（{max} 篇）'],
  quota_apps: [403, '应用数量已达上限（最多 {max} 个）'],
  quota_devices: [403, '设备数量已达上限（{max} 台）'],
  quota_personas: [403, '人设数量已达上限（最多 {max} 个）'],
  quota_keys: [403, '密钥数量已达上限（最多 {max} 个，含已吊销）'],

  not_found: [404, '{what}不存在'],
  login_method_unknown: [404, '未配置该登录方式'],
  method_not_allowed: [405, '该路径不支持此请求方法'],
  activation_code_used: [410, '激活码已被使用'],
  body_too_large: [413, '请求体过大'],
  doc_too_large: [413, '文档过大（最多 {max} KB）'],
  audio_too_large: [413, '音频过大（最多 {max} MB）'],
  audio_too_long: [413, '音频过长，最多 {max} 分钟'],

  rate_limited: [429, '请求过于频繁，请稍后再试'],
  rate_limited_email: [429, '该邮箱请求验证码过于频繁，请稍后再试'],
  rate_limited_guesses: [429, '该邮箱的验证码错误次数过多，请稍后再试或使用其他登录方式'],
  rate_limited_activation: [429, '激活尝试过于频繁，请稍后再试'],

  internal: [500, '服务器内部错误'],
  disk_full: [500, '服务器存储空间已满，内容未保存，请稍后重试'],
  turn_failed: [500, '服务器内部错误，本轮未保存，请重试'],

  canceled: [502, '请求已取消'],
  tts_unavailable: [502, '语音合成暂不可用，请稍后重试'],
  tts_not_configured: [502, '语音合成未配置，暂不可用'],
  asr_unavailable: [502, '语音识别暂不可用，请稍后重试'],
  asr_not_configured: [502, '语音识别未配置，暂不可用'],
  speech_not_understood: [502, '没有听清，请再说一遍'],
  turn_unavailable: [502, '对话暂不可用，请稍后重试'],
  embedding_unavailable: [502, '知识库向量服务暂不可用，请稍后重试'],
  model_retry_exhausted: [502, '模型服务繁忙或无法连接，已重试仍未成功，请稍后再试'],
  model_upstream_4xx: [502, '模型服务拒绝了请求，请检查模型通道的地址、密钥和模型名'],
  model_upstream_5xx: [502, '模型服务暂时故障，请稍后再试'],
  model_channel_unavailable: [502, '模型通道不可用，请检查通道配置'],
  model_provider_error: [502, '模型服务的回复中断或格式异常，请重试'],

  database_stopped: [503, '数据库暂时无法写入，请稍后重试'],
  turn_memory_full: [503, '服务器繁忙：进行中的对话占用内存过多，请稍后重试'],
  turn_too_long: [503, '本轮用时过长，已中止，请重试'],
  model_channel_changed: [503, '模型通道的配置已更改，本轮已中止，请重试'],
  session_full: [503, '会话内容过多且暂时无法整理，请稍后重试，或换用新的会话'],
  server_stopping: [503, '服务器正在停止，本轮未完成，请稍后重试'],
  too_many_streams: [503, '服务器繁忙：打开的会话流过多，请稍后重试'],
  memory_full: [503, '服务器繁忙：正在处理的大请求过多，请稍后重试'],
  encryption_not_configured: [503, '平台未配置加密密钥，无法使用自带模型通道'],
  console_not_built: [503, '控制台尚未构建：请运行 npm start，或先运行 bun scripts/build-web.ts'],
} as const

/** Chinese for values that are words: the kind of a value, a resource, a credential. */
export const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  kind: {
    string: '字符串',
    string_or_null: '字符串或 null',
    string_array: '字符串数组',
    string_array_or_null: '字符串数组或 null',
    number: '数字',
    int: '整数',
    boolean: '布尔值',
    boolean_or_null: '布尔值或 null',
    array: '数组',
    object: '对象',
  },
  what: {
    path: '路径',
    app: '应用',
    device: '设备',
    doc: '文档',
    key: '密钥',
    persona: '人设',
  },
  who: { general: '通用密钥', app: '应用级密钥', device: '设备密钥', session: '登录会话' },
}

/** The `error_class` of the request log, by status (contract, section 4, log rows). */
export const CLASSES = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  410: 'gone',
  413: 'too_large',
  429: 'rate_limited',
  500: 'internal',
  502: 'upstream',
  503: 'unavailable',
} as const

export type ErrorStatus = keyof typeof CLASSES
export type ErrorClass = (typeof CLASSES)[ErrorStatus]
