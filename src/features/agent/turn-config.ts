import type { Door } from '../../core/doors.ts'
import type { BudgetedKey, Principal } from '../../core/principal.ts'
import type { Collections } from '../../storage/collections.ts'
import type { Statement } from '../../storage/db.ts'
import type { ApprovedTool, Tool } from '../../tools/tool.ts'
import type { BuiltInTools, ToolsFor } from '../../tools/tool-box.ts'
import type { ForcedTool, LlmMessage, Sampling, ToolSpec } from '../../upstream/ports/llm.ts'
import type { KeptPictures } from '../files/pictures.ts'
import type { AppDraft } from './model.ts'
import type { ModelAnswer } from './model-loop.ts'
import { DEFAULT_PERSONA } from './prompt.ts'
import type { VariableContext } from './variables.ts'

/** The stored configuration that decides a turn; null where a level sets nothing. */
export interface StoredConfig {
  readonly app: AppConfig | null
  readonly settings: TenantConfig
  /** Prompt of the app's persona; null when the persona was deleted. */
  readonly appPersona: string | null
  /** Prompt of the persona that the request names; null when the tenant has no such persona. */
  readonly requestPersona: string | null
  readonly defaultPersona: string | null
  /** What variables of prompts stand for, besides the time; absent: nothing. */
  readonly named?: NamedContext
}

export type NamedContext = Omit<VariableContext, 'now' | 'values'>

/** Whether facts are remembered, and whether an app's are its own or shared in the tenant. */
export type MemorySwitch = 'off' | 'app' | 'tenant'

export interface AppConfig {
  readonly systemPrompt: string | null
  readonly model: string | null
  readonly thinking: boolean | null
  readonly temperature: number | null
  readonly kbEnabled: boolean
  /** Null allows all built-in tools, an empty list none. */
  readonly toolsEnabled: readonly string[] | null
  /** Whether the model may ask the person; null: as the tenant says. */
  readonly mayAsk?: boolean | null
  /** What it sees of the documents; null: all. */
  readonly collections: Collections
  readonly reminders?: boolean | null
  readonly memory: MemorySwitch | null
}

export interface TenantConfig {
  readonly model: string | null
  readonly thinking: boolean | null
  readonly temperature: number | null
  /** The tenant's choice for turns without an app. */
  readonly mcpTools: readonly string[]
  /** What turns without an app see of the documents; null: all. */
  readonly collections: Collections
  /** Whether a model names the talks of people. */
  readonly titles: boolean
  readonly reminders?: boolean | null
  readonly memory: MemorySwitch | null
  readonly mayAsk?: boolean | null
}

export interface RequestedTurn {
  readonly persona?: string | undefined
  readonly persona_id?: string | undefined
  readonly kb: boolean
  /** Narrows what the turn sees of the documents; null or absent: not at all. */
  readonly collections?: Collections | undefined
  readonly conversation?: RequestedConversation | undefined
  /** The model of this turn alone; null or absent: as it is configured. */
  readonly model?: string | null | undefined
}

/** The same fields from a caller who sends a whole conversation. */
export interface RequestedConversation {
  /** The caller's system messages; empty where there are none. */
  readonly context: string
  /** Null when the caller set none. */
  readonly temperature: number | null
  readonly thinking: boolean | null
}

/** A turn as one of the APIs asks for it. */
export interface TurnRequest extends RequestedTurn {
  /** By what it came in, for counts; the plain API where it is missing. */
  readonly door?: Door
  /** The user's message: the knowledge base is searched for it, and it is stored with the reply. */
  readonly text: string
  readonly images: readonly string[]
  /** Ids of files that the text is about. */
  readonly files?: readonly string[]
  /** Whom the caller speaks for; null: nobody, whoever the caller is. */
  readonly subject?: string | null | undefined
  /** Values for `{{var:…}}` in prompts. */
  readonly variables?: Readonly<Record<string, string>>
  /** Replaces the stored configuration of the caller's app. */
  readonly draft?: AppDraft
  /** The turn replaces the newest one that the session has verbatim. */
  readonly replace_last?: boolean
  /** About how many words the answer is to have; null or absent: as it comes. */
  readonly answer_words?: number | null
  /** Whether the turn may ask its person, and wait. */
  readonly interactive?: boolean
  /** Whether the events contain the model's reasoning. */
  readonly show_thinking?: boolean
  /** Whether nothing of it is remembered, neither facts nor reminders. */
  readonly temporary?: boolean
  /** Whether the events contain the texts of passages, for those who cannot open documents. */
  readonly show_passages?: boolean
  /** Whether a failure is explained to the person who asks. */
  readonly explains?: boolean
  /** Those of the images that are kept with a person's talk. */
  readonly pictures?: Pick<KeptPictures, 'images' | 'storing'>
  /** Statements of the transaction that stores the turn. */
  readonly storing?: (answer: ModelAnswer) => readonly Statement[]
  /** Limit of model calls in the turn. */
  readonly modelCallsMax?: number
  /** Tools that may act where nobody can be asked, as they were when a person said so. */
  readonly approvedTools?: readonly ApprovedTool[]
  /** Awaited before the first model call and before further ones; the turn ends when it throws. */
  readonly beforeModelCall?: () => Promise<void>
  /** Tools of the caller's own connection, such as those of a device. */
  readonly ownTools?: readonly Tool[]
  /** From an API whose callers send their own messages, tools and sampling. */
  readonly conversation?: Conversation
  /** The budget of a caller without a key. */
  readonly budget?: BudgetedKey
}

/** What a caller sends in place of a single text. */
export interface Conversation extends RequestedConversation {
  /** Oldest first, without system messages. With a session, only what the session does not have. */
  readonly messages: readonly LlmMessage[]
  /** Tools that the caller runs: the turn ends when the model calls them. */
  readonly clientTools: readonly ToolSpec[]
  readonly toolChoice: 'auto' | 'none' | ForcedTool
  /** The caller has all the tools that it wants: none of this server is offered. */
  readonly isWithoutOurTools?: boolean
  readonly sampling: Sampling
  /** Whether the events contain the model's reasoning where it is to think. */
  readonly showThinking: boolean
  /** The caller cannot retract text, so no other channel takes over after the first text. */
  readonly fallbackOnlyWhileSilent: boolean
}

export interface ResolvedTurn {
  readonly prompt: string
  /** The caller's system messages; empty when they are the prompt. */
  readonly context: string
  /** Null: the channel's default model. */
  readonly model: string | null
  readonly thinking: boolean
  readonly temperature: number | null
  readonly kb: boolean
  /** What the turn sees of the documents; null: all. */
  readonly collections: Collections
  readonly tools: readonly string[] | null
  /** Names of the offered tools of the tenant's MCP servers. */
  readonly mcpTools: readonly string[]
  /** Whether a talk that begins gets a title. */
  readonly titles: boolean
  /** Whether the tools of reminders are offered. */
  readonly reminders: boolean
  /** Which facts the turn knows; null: none. */
  readonly memory: 'app' | 'tenant' | null
  readonly mayAsk: boolean
}

/**
 * Resolves each field in the order app, request, tenant, platform, and the prompt by its own
 * priority. `fill` puts values in place of variables, which the caller's own messages do not have.
 * Pure, so that tests can cover the whole table.
 */
export function resolveTurn(
  config: StoredConfig,
  request: RequestedTurn,
  fill: (prompt: string) => string = (prompt) => prompt,
): ResolvedTurn {
  const { app, settings } = config
  const { conversation } = request
  const context = nonBlank(conversation?.context) ?? ''
  const prompt =
    nonBlank(app?.systemPrompt) ??
    nonBlank(app ? config.appPersona : null) ??
    requestedPrompt(config, request)
  return {
    prompt:
      prompt === null && context !== ''
        ? context
        : fill(prompt ?? nonBlank(config.defaultPersona) ?? DEFAULT_PERSONA),
    context: prompt === null ? '' : context,
    model: request.model ?? app?.model ?? settings.model,
    thinking: app?.thinking ?? conversation?.thinking ?? settings.thinking ?? false,
    temperature: app?.temperature ?? conversation?.temperature ?? settings.temperature,
    kb: request.kb && (app?.kbEnabled ?? true),
    collections: narrowed(collectionsOf(config), request.collections),
    tools: app?.toolsEnabled ?? null,
    mcpTools: app ? (app.toolsEnabled ?? []) : settings.mcpTools,
    titles: settings.titles,
    reminders: app?.reminders ?? settings.reminders ?? false,
    memory: onOrNull(app?.memory ?? settings.memory),
    mayAsk: app?.mayAsk ?? settings.mayAsk ?? false,
  }
}

/** The turn without what outlives it. */
export const withoutTraces = (turn: ResolvedTurn): ResolvedTurn => ({
  ...turn,
  memory: null,
  reminders: false,
})

/** What the assistant sees: an app's list, also where it is null, and else that of the tenant. */
export const collectionsOf = ({ app, settings }: StoredConfig): Collections =>
  app ? app.collections : settings.collections

/** The collections of the request that the assistant sees. */
function narrowed(seen: Collections, wanted: Collections | undefined): Collections {
  if (wanted === null || wanted === undefined) return seen
  return seen === null ? wanted : wanted.filter((one) => seen.includes(one))
}
const onOrNull = (given: MemorySwitch | null) => (given === 'off' ? null : given)

/** Puts the draft in place of the app; its persona was loaded as that of the request. */
export const withDraft = (config: StoredConfig, draft: NonNullable<AppDraft>): StoredConfig => ({
  ...config,
  app: {
    systemPrompt: draft.system_prompt,
    model: draft.model,
    thinking: draft.thinking,
    temperature: draft.temperature,
    kbEnabled: draft.kb_enabled,
    toolsEnabled: draft.tools_enabled,
    mayAsk: draft.may_ask,
    // A form that does not know the field opens no wall.
    collections: draft.collections === undefined ? collectionsOf(config) : draft.collections,
    reminders: draft.reminders,
    memory: draft.memory,
  },
  appPersona: config.requestPersona,
  requestPersona: null,
})

/** `persona_id` overrides `persona`, also when it is not found. */
function requestedPrompt(config: StoredConfig, request: RequestedTurn): string | null {
  if (nonBlank(request.persona_id)) return nonBlank(config.requestPersona)
  return nonBlank(request.persona)
}

/** Blank text counts as not given. */
function nonBlank(text: string | null | undefined): string | null {
  return text && text.trim() !== '' ? text : null
}

/** Allows all tools of the caller's own connection in an app's allow-list. */
const ALL_OWN = 'device__*'

/** Where tools of a turn come from, besides the caller's connection. */
export interface ToolSources {
  readonly builtInTools: BuiltInTools
  /** Those of the tenant's MCP servers. */
  readonly toolsOfServers: ToolsFor
}

/**
 * The tools of a turn: those of the caller's connection that the app allows, and those of this
 * server. Of tools with the same name the client's comes first, then the connection's. A caller
 * who requires a call means one of its own tools, so it gets no others. Opt-in tools, which a
 * switch of their own offers, are there whatever the app's list says, unless that is empty.
 */
export async function toolsOffered(
  { builtInTools, toolsOfServers }: ToolSources,
  principal: Principal,
  resolved: ResolvedTurn,
  { conversation, ownTools = [] }: TurnRequest,
  optIn: readonly Tool[],
): Promise<readonly Tool[]> {
  const clientTools = conversation?.clientTools ?? []
  const isForClient = conversation?.toolChoice === 'required' && clientTools.length > 0
  if (conversation?.toolChoice === 'none' || isForClient) return []
  if (conversation?.isWithoutOurTools) return []
  const builtIn = builtInTools(resolved)
  // Nearly no turn names a tool of a server.
  const isWhole = resolved.mcpTools.length === 0
  const listed = isWhole ? builtIn : [...builtIn, ...(await toolsOfServers(principal, resolved))]
  const tools = resolved.tools?.length === 0 ? listed : [...listed, ...optIn]
  const own = ownTools.filter(({ spec }) => isAllowed(spec.name, resolved.tools))
  if (clientTools.length === 0 && own.length === 0) return tools
  const taken = new Set([...clientTools, ...own.map(({ spec }) => spec)].map(({ name }) => name))
  return [...own, ...tools.filter(({ spec }) => !taken.has(spec.name))]
}

/** Without a list all are allowed: they are the device's own. */
const isAllowed = (name: string, allowed: readonly string[] | null): boolean =>
  allowed === null || allowed.includes(name) || allowed.includes(ALL_OWN)
