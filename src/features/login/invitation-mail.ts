/** Who invites, and to what. */
export interface Inviting {
  /** The address of the inviter, who has proved it. */
  readonly inviter: string
  /** The name of the workspace, which its owner chose. */
  readonly workspace: string
  /** Without one the mail has both. */
  readonly language: 'zh' | 'en' | undefined
}

const SUBJECTS = {
  zh: 'Moonbase 邀请',
  en: 'Invitation to Moonbase',
  both: 'Moonbase 邀请 / invitation',
}

/** Letters, digits, blanks and hyphens: a name with more could carry a link of its own. */
const PLAIN_NAME = /^[\p{L}\p{M}\p{N} _-]{1,60}$/u

const zh = ({ inviter, workspace }: Inviting, site: string | undefined) =>
  `${inviter} 邀请你加入其 Moonbase 工作空间${workspace === '' ? '' : `“${workspace}”`}。
用本邮箱登录并接受邀请即可加入${site === undefined ? '' : `：${site}`}
如不认识对方，请忽略本邮件。
`

const en = ({ inviter, workspace }: Inviting, site: string | undefined) =>
  `${inviter} invites you to their Moonbase workspace${workspace === '' ? '' : ` “${workspace}”`}.
Sign in with this address and accept it${site === undefined ? '.' : `: ${site}`}
If you do not know them, ignore this mail.
`

/**
 * The mail to somebody who is invited, who may be a stranger: the inviter's own words are not in
 * it, and the workspace's name only where it is plain. `site` is the address of the server.
 */
export function invitation(by: Inviting, site: string | undefined) {
  const { inviter, workspace, language } = by
  const named = { inviter, workspace: PLAIN_NAME.test(workspace) ? workspace : '', language }
  const page = site === undefined ? undefined : `${site.replace(/\/$/, '')}/login`
  const texts = { zh: zh(named, page), en: en(named, page) }
  const text = language === undefined ? `${texts.zh}\n${texts.en}` : texts[language]
  return { subject: SUBJECTS[language ?? 'both'], text }
}
