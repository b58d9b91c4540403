import { useQuery } from '@tanstack/react-query'
import { type Change, diffLines, diffWordsWithSpace } from 'diff'
import { mcpServers } from '../../api/mcp-servers.ts'
import type { McpDefinition, McpServer, McpTool } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/state.tsx'

interface ToolChangesProps {
  readonly server: McpServer
  readonly tool: McpTool
  /** Called with the hash of the definition that was shown. */
  readonly onApprove: (hash: string) => void
  readonly onClose: () => void
}

/** The changes of a tool since it was approved, to read before approving it again. */
export function ToolChanges({ server, tool, onApprove, onClose }: ToolChangesProps) {
  const { t } = useI18n()
  const query = useDefinition(server, tool)
  const { data } = query
  return (
    <Dialog wide title={t('tools.compare.title', { name: tool.name })} open onClose={onClose}>
      <Loaded query={query}>
        {(definition) => <Compared tool={tool} definition={definition} />}
      </Loaded>
      <div className="mt-6 flex justify-end gap-2">
        <Button onClick={onClose}>{t('action.cancel')}</Button>
        {data && (
          <Button kind="primary" onClick={() => onApprove(data.hash)}>
            {t('tools.approve.again')}
          </Button>
        )}
      </div>
    </Dialog>
  )
}

/** Another definition of the tool has another hash, and is loaded again. */
export const useDefinition = ({ id }: McpServer, { name, hash }: McpTool) =>
  useQuery({
    queryKey: ['mcp-definition', id, name, hash],
    queryFn: () => mcpServers.definition(id, name),
  })

/** A hostile definition may take long to compare; it is then shown as completely changed. */
const LIMIT = { timeout: 300 }

function changesOf(kind: 'words' | 'lines', before: string, now: string): Change[] {
  const diff =
    kind === 'words' ? diffWordsWithSpace(before, now, LIMIT) : diffLines(before, now, LIMIT)
  const whole = [
    { value: before, added: false, removed: true, count: 1 },
    { value: now, added: true, removed: false, count: 1 },
  ]
  return diff ?? whole
}

interface ComparedProps {
  readonly tool: McpTool
  readonly definition: McpDefinition
}

function Compared({ tool, definition }: ComparedProps) {
  const { t } = useI18n()
  const { description, schema, approved } = definition
  if (approved === null) return <p className="text-ink-2">{t('tools.compare.none')}</p>
  const [before, now] = [written(approved.schema), written(schema)]
  const isSame = approved.description === description && before === now
  const title = tool.title ?? tool.name
  return (
    <div className="grid gap-5">
      {isSame && (
        <p>{t(tool.read_only ? 'tools.compare.reads' : 'tools.compare.changes', { title })}</p>
      )}
      <Part title={t('tools.compare.description')}>
        {approved.description === description ? (
          <p className="text-ink-2">{t('tools.compare.same')}</p>
        ) : (
          <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">
            <Parts changes={changesOf('words', approved.description, description)} />
          </p>
        )}
      </Part>
      <Part title={t('tools.compare.arguments')}>
        {before === now ? (
          <p className="text-ink-2">{t('tools.compare.same')}</p>
        ) : (
          <pre className="code">
            <Parts changes={changesOf('lines', before, now)} />
          </pre>
        )}
      </Part>
    </div>
  )
}

const written = (schema: object | null) => (schema === null ? '' : JSON.stringify(schema, null, 2))

interface PartProps {
  readonly title: string
  readonly children: React.ReactNode
}

const Part = ({ title, children }: PartProps) => (
  <section>
    <h3 className="mb-1.5 font-medium">{title}</h3>
    {children}
  </section>
)

/** Lines before and after a change that are shown with it. */
const CONTEXT = 3

/** A long stretch of unchanged lines is shown by its ends. */
function folded(text: string): string {
  const lines = text.split('\n')
  if (lines.length <= 3 * CONTEXT) return text
  return [...lines.slice(0, CONTEXT), '  …', ...lines.slice(-CONTEXT - 1)].join('\n')
}

/** Removed text is struck out and new text underlined, so that colour is not needed. */
function Parts({ changes }: { readonly changes: readonly Change[] }) {
  return withIndexKeys(changes).map(({ key, item: { added, removed, value } }) => {
    if (added) return <ins key={key}>{value}</ins>
    if (removed) return <del key={key}>{value}</del>
    return <span key={key}>{folded(value)}</span>
  })
}
