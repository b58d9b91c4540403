import { ASK_QUESTION_CHARS_MAX, MCP_SCHEMA_BYTES_MAX } from '../../core/limits/contract.ts'
import { firstChars } from '../../core/text.ts'
import type { Person } from '../../tools/asking.ts'
import { asksForSecret, isForm } from '../../tools/forms.ts'
import { Declined, NeedsApproval, type Tool, ToolFailure } from '../../tools/tool.ts'
import { type Elicit, ElicitationRefused } from '../../upstream/ports/mcp.ts'
import type { OfferedTool } from './offer-store.ts'
import { isNode } from './schema.ts'
import type { StoredServer } from './store.ts'

const SECRET_WARNING = '工具服务器不应索取密码、令牌、密钥或卡号，请勿填写'

/**
 * Asks the person before each call, unless they have allowed the tool for the session, or somebody
 * has approved it for the turn as it is now.
 */
export const withApproval =
  (
    run: Tool['run'],
    server: Pick<StoredServer, 'id' | 'name'>,
    tool: OfferedTool,
    callName: string,
    isStillApproved: () => Promise<boolean>,
  ): Tool['run'] =>
  async (args, context) => {
    const { person, approved = [] } = context
    const { name, title, hash, schema } = tool
    if (approved.some((one) => one.name === callName && one.hash === hash)) {
      return run(args, context)
    }
    if (!person) throw new NeedsApproval()
    if (!isNode(args)) throw new ToolFailure('invalid arguments: not an object')
    const allowed = { serverId: server.id, tool: name, hash }
    if (await person.hasAllowed(allowed)) return run(args, context)
    const about = { kind: 'approval', server: server.name, tool: name, title } as const
    const reply = await person.ask({ ...about, arguments: args, schema })
    if (reply === null) throw new NeedsApproval()
    if (reply.action === 'decline') throw new Declined()
    // The person may have taken their time.
    if (!(await isStillApproved())) throw new ToolFailure('the tool is no longer allowed')
    if (reply.remember) person.allow(allowed)
    return run(reply.content.arguments ?? args, context)
  }

/** Shows the person what a server asks within a call, and checks that it may be asked. */
export const elicitFrom =
  (person: Person, server: Pick<StoredServer, 'name'>, tool: Pick<OfferedTool, 'name' | 'title'>) =>
  async ({ mode = 'form', message, requestedSchema, url }: Parameters<Elicit>[0]) => {
    const text = typeof message === 'string' ? message.toWellFormed() : ''
    const about = {
      server: server.name,
      tool: tool.name,
      title: tool.title,
      message: firstChars(text, ASK_QUESTION_CHARS_MAX),
    }
    if (mode !== 'form' && mode !== 'url') {
      throw new ElicitationRefused('the tool server asked for something unknown')
    }
    const question =
      mode === 'form' ? { ...about, ...formOf(requestedSchema) } : { ...about, ...linkOf(url) }
    const reply = await person.ask(question)
    if (reply === null) {
      throw new ElicitationRefused('asked too often', { cause: new NeedsApproval() })
    }
    const { action, content } = reply
    return action === 'accept' && mode === 'form' ? { action, content } : { action }
  }

function formOf(schema: unknown) {
  const isShort = JSON.stringify(schema ?? null).length <= MCP_SCHEMA_BYTES_MAX
  if (!isForm(schema) || !isShort) {
    throw new ElicitationRefused('the form of the tool server cannot be shown to a person')
  }
  const warning = asksForSecret(schema) ? SECRET_WARNING : null
  return { kind: 'question', schema, warning } as const
}

function linkOf(url: unknown) {
  const parsed = typeof url === 'string' ? URL.parse(url) : null
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new ElicitationRefused('the link of the tool server cannot be shown to a person')
  }
  return { kind: 'link', url: parsed.href } as const
}
