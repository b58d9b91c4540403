/**
 * English for the Chinese sentences of an import report. `{0}` and `{1}` are values, which may be
 * sentences of this list; `<1>` is a value that stays unchanged, such as a tenant's name for an
 * item. Errors of requests have codes, see error-words.ts.
 */
const SENTENCES: readonly (readonly [string, string])[] = [
  ['缺少字段 {0}', 'the field {0} is missing'],
  ['字段 {0} 必填，应为{1}', 'the field {0} is required'],
  ['字段 {0} 类型错误，应为{1}', 'the field {0} has the wrong type'],
  ['{0} 不能为空', '{0} must not be empty'],
  ['{0} 过长（最多 {1} 个字符）', '{0} is too long (at most {1} characters)'],
  [
    '字段 temperature 应为 0 到 {0} 的数字或 null',
    'temperature is a number from 0 to {0}, or null',
  ],
  ['tools_enabled 最多 {0} 项', 'at most {0} tools can be named'],
  ['{0} 最多 {1} 项', '{0} takes at most {1} items'],
  ['字段 {0} 的值无效', 'the value of the field {0} is not valid'],
  [
    'name 只能用小写字母、数字和下划线，最多 20 个字符，不能有连续的下划线',
    'the name takes lower-case letters, digits and single underscores, at most 20 characters',
  ],
  ['MCP 服务器数量已达上限（最多 {0} 个）', 'the limit of {0} MCP servers is reached'],
  ['应用数量已达上限（最多 {0} 个）', 'the limit of {0} apps is reached'],
  ['人设数量已达上限（最多 {0} 个）', 'the limit of {0} personas is reached'],
  ['服务器存储空间已满，内容未保存，请稍后重试', 'the disk of the server is full'],
  ['知识库文档数已达上限（{0} 篇）', 'the limit of {0} documents is reached'],
  ['文档过大（最多 {0} KB）', 'the document is too large (at most {0} KB)'],
  ['{0} 不能指向内部主机', '{0} must not be an internal address'],
  ['{0} 不是有效的网址', '{0} is not a valid address'],
  ['{0} 只支持 http 或 https', '{0} has to be an http or https address'],
  ['{0} 不能包含用户名或密码', '{0} must not hold a user name or password'],
  ['等待处理的来源过多（最多 {0} 个），请稍后再试', 'more than {0} pages are waiting to be read'],
  ['{0}不完整，未导入', '{0} was not imported: some of its documents are missing'],
  [
    '{0}的自动更新数已达上限，不再自动更新',
    '{0} is no longer checked: the limit of such pages is reached',
  ],
  [
    '文件在第 {0} 个文档之后中断或损坏，其后的内容未导入',
    'The file broke off or is damaged after document {0}; nothing behind it was imported',
  ],
  ['另有 {0} 条未列出', '{0} more'],
  ['文档', 'Document'],
  ['来源', 'Source'],
  ['人设', 'Persona'],
  ['应用', 'App'],
  ['MCP 服务器', 'MCP server'],
  ['已存在', 'exists already'],
  ['在配置中重复', 'is in the file twice'],
  ['设置已存在，已跳过', 'The settings were chosen already'],
  ['设置：{0}', 'Settings: {0}'],
  ['设置写入失败', 'The settings could not be written'],
  ['第 {0} 个{1}：{2}', '{1} number {0}: {2}'],
  ['应为对象', 'not an object'],
  [
    '{0}超出单次导入上限（{1} 个），其余 {2} 个已跳过',
    '{0}: more than {1} in one import, {2} were skipped',
  ],
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

/** The English for a line of the report; null when it is not known. */
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

/** The Chinese sentences in the spelling of the server's sources. */
export const knownSentences = SENTENCES.map(([chinese]) => chinese)
