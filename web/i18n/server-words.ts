/**
 * The server's sentences, which are Chinese, in English; `{0}`, `{1}` stand for what is filled in,
 * which may be a sentence of the list again; `<1>` leaves it as it is, a name of the tenant's own.
 * Loaded with the English texts. What is not listed is explained by its status.
 */
const SENTENCES: readonly (readonly [string, string])[] = [
  ['缺少字段 {0}', 'The field {0} is missing'],
  ['字段 {0} 必填，应为字符串', 'The field {0} is required'],
  ['{0} 不能为空', '{0} must not be empty'],
  ['{0} 过长（最多 {1} 个字符）', '{0} is too long (at most {1} characters)'],
  ['请求体过大', 'The request is too large'],
  ['请求过于频繁，请稍后再试', 'Too many requests; try again shortly'],
  ['服务器内部错误', 'The server had a fault'],
  ['服务器正在停止，本轮未完成，请稍后重试', 'The server is stopping; try again shortly'],
  ['未登录或登录已过期', 'You are not signed in, or your sign-in has ended'],
  ['服务器繁忙：打开的会话流过多，请稍后重试', 'The server is busy; try again shortly'],
  [
    '跨站请求被拒绝：来源与本站地址不符（经反向代理访问时请设置 MB_PUBLIC_URL）',
    'Refused: this page has another address than the server believes to have. Behind a reverse proxy, set MB_PUBLIC_URL.',
  ],
  ['base_url 不是有效的网址', 'This is not a valid address'],
  ['base_url 只支持 http 或 https', 'The address has to begin with http:// or https://'],
  ['base_url 不能包含用户名或密码', 'The address must not hold a user name or password'],
  [
    'base_url 不能指向内部主机',
    'Internal addresses are refused, unless the operator allows the host in MB_ALLOW_PRIVATE_HOSTS',
  ],
  ['没有听清，请再说一遍', 'Nothing was understood; please say it again'],
  ['对话暂不可用，请稍后重试', 'The conversation is not available; try again shortly'],
  ['语音合成', 'Speech synthesis'],
  ['语音识别', 'Speech recognition'],
  ['语音合成未配置，暂不可用', 'Speech synthesis is not set up on this server'],
  ['语音识别未配置，暂不可用', 'Speech recognition is not set up on this server'],
  ['音频不能为空', 'The recording is empty'],
  ['知识库文档数已达上限（{0} 篇）', 'The limit of {0} documents is reached'],
  ['文档过大（最多 {0} KB）', 'The document is too large (at most {0} KB)'],
  ['文档不存在', 'The document does not exist any more'],
  [
    '知识库向量服务暂不可用，请稍后重试',
    'The embedding of the knowledge base is not available; try again shortly',
  ],
  [
    '模型服务繁忙或无法连接，已重试仍未成功，请稍后再试',
    'The model is busy or cannot be reached, after several tries. Try again later.',
  ],
  [
    '模型服务拒绝了请求，请检查模型通道的地址、密钥和模型名',
    'The model refused the request. Check the channel: its address, its key and the name of the model.',
  ],
  ['模型服务暂时故障，请稍后再试', 'The model has a fault at the moment. Try again later.'],
  ['模型通道不可用，请检查通道配置', 'The model channel cannot be used. Check how it is set up.'],
  [
    '模型服务的回复中断或格式异常，请重试',
    "The model's answer broke off or was malformed. Try again.",
  ],
  ['服务器内部错误，本轮未保存，请重试', 'The server had a fault. Try again.'],
  [
    '服务器繁忙：进行中的对话占用内存过多，请稍后重试',
    'The server is busy: the conversations under way take too much memory. Try again shortly.',
  ],
  ['本轮用时过长，已中止，请重试', 'This turn took too long and was ended. Try again.'],
  [
    '模型通道的配置已更改，本轮已中止，请重试',
    'The model channel was changed meanwhile, so this turn was ended. Try again.',
  ],
  ['images 最多 {0} 张', 'At most {0} images'],
  ['图片过大（每张最多 {0} MB）', 'An image is too large (at most {0} MB each)'],
  ['人设不存在', 'The persona does not exist any more'],
  ['该邮箱请求验证码过于频繁，请稍后再试', 'Too many codes for this address; try again later'],
  [
    '该邮箱的验证码错误次数过多，请稍后再试或使用其他登录方式',
    'Too many wrong codes for this address; try again later or sign in another way',
  ],
  ['邮箱地址格式不正确', 'This is not a valid e-mail address'],
  ['应用不存在', 'The app does not exist any more'],
  ['应用数量已达上限（最多 {0} 个）', 'The limit of {0} apps is reached'],
  ['密钥不存在', 'The key does not exist any more'],
  ['设备不存在', 'The device does not exist any more'],
  ['设备数量已达上限（{0} 台）', 'The limit of {0} devices is reached'],
  ['查询参数 {0} 格式错误', 'The filter {0} is malformed'],
  ['{0}暂不可用，请稍后重试', '{0} is not available; try again shortly'],
  ['人设', 'Persona'],
  ['应用', 'App'],
  ['已存在', 'exists already'],
  ['在配置中重复', 'is in the file twice'],
  ['设置已存在，已跳过', 'The settings were chosen already'],
  ['设置：{0}', 'Settings: {0}'],
  ['设置写入失败', 'The settings could not be written'],
  ['第 {0} 个{1}：{2}', '{1} number {0}: {2}'],
  ['应为对象', 'not an object'],
  ['{0}「{1}」{2}，已跳过', '{0} “<1>” {2}'],
  ['{0}未导入：{1}', '{0} was not imported: {1}'],
  ['{0}写入失败', '{0} could not be written'],
  ['{0}「{1}」', '{0} “<1>”'],
]

const quoted = (text: string) => text.replace(/[.*+?^$()|[\]\\]/g, '\\$&')

const PATTERNS = SENTENCES.map(([chinese, english]) => ({
  pattern: new RegExp(`^${quoted(chinese).replace(/\{\d\}/g, '(.+?)')}$`),
  english,
}))

/** The English for a sentence of the server; null when it is not known. */
export function inEnglish(sentence: string): string | null {
  for (const { pattern, english } of PATTERNS) {
    const found = pattern.exec(sentence)
    if (!found) continue
    const part = (place: string) => found[Number(place) + 1] ?? ''
    return english
      .replace(/\{(\d)\}/g, (_, place: string) => inEnglish(part(place)) ?? part(place))
      .replace(/<(\d)>/g, (_, place: string) => part(place))
  }
  return null
}

/** The sentences as the server's sources spell them. */
export const knownSentences = SENTENCES.map(([chinese]) => chinese)
