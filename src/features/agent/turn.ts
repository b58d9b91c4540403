import { appError } from '../../core/errors.ts'
import { bytesOfText, type MemoryShare } from '../../core/memory-budget.ts'
import type { Principal } from '../../core/principal.ts'
import { createQuestion } from '../../core/question.ts'
import { askUser } from '../../tools/ask-user.ts'
import { createToolBox } from '../../tools/tool-box.ts'
import type { ForcedTool, LlmMessage } from '../../upstream/ports/llm.ts'
import type { FilesOfTurn } from '../files/turn-files.ts'
import type { MemoriesOfTurn, MemoryWrite } from '../memories/turn-memories.ts'
import type { TurnTools } from '../runs/reminder-tools.ts'
import type { Memory, StoredTurn } from '../sessions/store.ts'
import { counted, fallbackOf } from './channel-choice.ts'
import type { AgentEvent, Emit } from './events.ts'
import { type HeardAnswer, hearModel, isStopped } from './heard.ts'
import { openMemories, passagesOf, retrieveFor } from './material.ts'
import type { Channel } from './model-call.ts'
import type { ModelAnswer, ModelLoop } from './model-loop.ts'
import { buildMessages, userMessage } from './prompt.ts'
import { appendTurn, isTalk } from './stored-turn.ts'
import { type Conversation, toolsOffered } from './turn-config.ts'
import { fileRefsOf, kbRefsEvent, type Retrieved, refsOf, statsOf } from './turn-events.ts'
import type { Turn, TurnOptions } from './turn-parts.ts'

const NO_TOOLS: TurnTools = { tools: [], writes: () => [], startOver() {} }
const NO_MEMORY: Memory = { summary: '', foldedThrough: 0, turns: [] }

/**
 * The turn: recall the session, if it has one, retrieve passages, let the model loop answer, store
 * the turn, and only then end the stream. A turn that ends in calls of the client's tools is not
 * over, so it is not stored; what tools of the server have written is. Throws what went wrong;
 * nothing is stored then.
 */
export async function runTurn(
  options: TurnOptions,
  turn: Turn,
  signal: AbortSignal,
  emit: Emit,
): Promise<ModelAnswer> {
  const { memory, folding, budget } = options
  const { principal, sessionId, request, resolved, confirm } = turn
  const { tenantId } = principal
  const primary: Channel = { ...turn.channel, model: resolved.model }
  const asked = { principal, sessionId, ids: request.files ?? [], text: request.text }
  const named = await options.files.ready(asked, signal)
  const recall = sessionId === null ? NO_MEMORY : memory.recall(tenantId, sessionId)
  const openFiles = async () => {
    const { hasFiles = false } = await recall
    return options.files.open({ ...asked, hasEarlier: hasFiles }, named, signal)
  }
  const asking = { ...turn, question: createQuestion(tenantId, request.text, signal) }
  const [recalled, found, files, memories] = await Promise.all([
    recall,
    retrieveFor(options, asking, signal),
    openFiles(),
    openMemories(options, asking, signal),
  ])
  // Two may begin one name at once; turns of a session run one after another.
  if (sessionId !== null) memory.checkTurn(principal, sessionId, recalled)
  const replaces = request.replace_last ? replaceable(recalled, principal) : null
  const before = replaces ? { ...recalled, turns: recalled.turns.slice(0, -1) } : recalled
  if (sessionId !== null && memory.isFull(before)) {
    folding.start(tenantId, sessionId, counted(options, principal, primary))
    throw appError('session_full')
  }
  const passages = passagesOf(found)
  if (passages.length > 0) await emit([kbRefsEvent(passages, request.show_passages === true)])
  const fileRefs = fileRefsOf(files)
  if (fileRefs.length > 0) await emit([{ type: 'file_refs', refs: fileRefs }])
  const share = budget.open(tenantId)
  let seq: number | null = null
  const own = resolved.reminders ? options.reminders(principal, turn.subject) : NO_TOOLS
  turn.trace.onStartOver = () => {
    memories.startOver()
    own.startOver()
  }
  try {
    const loop = await modelLoopOf(options, turn, {
      primary,
      before,
      found,
      files,
      memories,
      share,
      own,
    })
    const answer = await hearModel(loop, signal, emit)
    if (!isStopped(signal)) {
      await confirm()
      signal.throwIfAborted()
    }
    const stats = statsOf(answer, found, memories.shown)
    if (sessionId !== null && answer.clientCalls.length === 0) {
      const isBuiltIn = answer.channel.llm.name === 'offline'
      const told = { refs: refsOf(passages), fileRefs }
      const known = turn.trace.details(told, stats, isBuiltIn)
      const images = isTalk(turn, before) ? (request.pictures?.images ?? []) : []
      const asks = turn.person?.told ?? []
      const details = {
        ...known,
        ...(asks.length > 0 ? { asks: [...asks] } : {}),
        ...(files.named.length > 0 ? { files: [...files.named] } : {}),
        ...(images.length > 0 ? { images: [...images] } : {}),
        ...(memories.ids().length > 0 ? { memory: [...memories.ids()] } : {}),
        ...(answer.stopped ? { stopped: true as const } : {}),
        ...(request.answer_words ? { answer_words: request.answer_words } : {}),
      }
      const kept = { before, replaces, details, files, memories, own }
      seq = await appendTurn(options, { ...turn, sessionId }, answer, kept)
    } else {
      await options.keep(turn.fence, [...memories.storing(), ...own.writes()])
    }
    await turn.person?.keep()
    const written = await memories.stored()
    await options.usage.stored()
    await emit([...written.map(memoryEvent), stats, endOf(answer, seq)])
    return answer
  } finally {
    share.close()
  }
}

const memoryEvent = (write: MemoryWrite): AgentEvent => ({ type: 'memory', ...write })

const endOf = ({ text, stopped }: HeardAnswer, seq: number | null): AgentEvent => ({
  type: 'llm_end',
  reply: text,
  ...(stopped ? { stopped } : {}),
  ...(seq === null ? {} : { seq }),
})

interface LoopParts {
  readonly primary: Channel
  readonly before: Memory
  readonly found: Retrieved
  readonly files: FilesOfTurn
  readonly memories: MemoriesOfTurn
  readonly share: MemoryShare
  readonly own: TurnTools
}

/** The messages and tools that the model gets. */
async function modelLoopOf(
  options: TurnOptions,
  { principal, request, resolved, channel, trace, confirm, person }: Turn,
  { primary, before: memory, found, files, memories, share, own }: LoopParts,
): Promise<ModelLoop> {
  const { log, meters, usage } = options
  const { prompt, context, thinking, temperature } = resolved
  const { text, images, conversation, answer_words: answerWords = null } = request
  const showsThinking = request.show_thinking || (thinking && conversation?.showThinking)
  const said = conversation?.messages ?? [userMessage(text, images)]
  const passages = passagesOf(found)
  const isMiss = found !== null && found !== 'skipped' && passages.length === 0
  const quoted = { passages, isMiss, files: files.quoted, remembered: memories.quote }
  const messages = buildMessages({ prompt, context, memory, ...quoted, answerWords, said })
  share.add(bytesOf(messages))
  const asksPerson = person !== null && resolved.mayAsk
  const optIn = [
    ...(files.tool ? [files.tool] : []),
    ...own.tools,
    ...memories.tools,
    ...(asksPerson ? [askUser] : []),
  ]
  const offered = await toolsOffered(options, principal, resolved, request, optIn)
  return {
    remembered: 2 * memory.turns.length,
    request: {
      purpose: 'turn',
      messages,
      passages,
      thinking,
      temperature,
      ...(showsThinking ? { showThinking: true } : {}),
      ...(conversation ? { sampling: conversation.sampling, ...forcedOf(conversation) } : {}),
    },
    tools: createToolBox(offered, principal.tenantId, log, resolved.collections, {
      ...(person && { person }),
      ...(request.approvedTools && { approved: request.approvedTools }),
    }),
    clientTools: conversation?.toolChoice === 'none' ? [] : (conversation?.clientTools ?? []),
    primary,
    fallback: fallbackOf(channel),
    fallbackOnlyWhileSilent: conversation?.fallbackOnlyWhileSilent ?? false,
    confirm: async (channel) => {
      await confirm(channel)
      await request.beforeModelCall?.()
    },
    modelCallsMax: request.modelCallsMax,
    countTokens: (channel, tokens) => usage.countTokens(principal, channel, tokens),
    share,
    trace,
    log,
    meters,
  }
}

function forcedOf({ toolChoice }: Conversation): { forcedTool?: ForcedTool } {
  return toolChoice === 'auto' || toolChoice === 'none' ? {} : { forcedTool: toolChoice }
}

/** The newest turn; a key of an app or a device replaces only what its own app answered. */
function replaceable({ turns }: Memory, { kind, appId }: Principal): StoredTurn | null {
  const last = turns.at(-1) ?? null
  const isForeign = (kind === 'app' || kind === 'device') && last?.app_id !== appId
  return isForeign ? null : last
}

/** Images, and the calls of earlier messages, are counted with the body of the request. */
const bytesOf = (messages: readonly LlmMessage[]): number =>
  messages.reduce((sum, { content }) => sum + bytesOfText(content), 0)
