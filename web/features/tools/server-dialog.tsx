import { useState } from 'react'
import { MCP_SERVER_NAME, MCP_URL_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { mcpServers } from '../../api/mcp-servers.ts'
import type { McpServer, McpServerInput } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import type { KnownServer } from './known.ts'
import { AuthFields, authOf, inputOf, isComplete } from './server-auth.tsx'

interface ServerDialogProps {
  /** Null creates a new server. */
  readonly server: McpServer | null
  /** With whose name and address a new one begins. */
  readonly known?: KnownServer | undefined
  readonly open: boolean
  readonly onClose: () => void
}

export function ServerDialog({ server, known, open, onClose }: ServerDialogProps) {
  const { t } = useI18n()
  const title = server ? t('tools.edit', { name: server.name }) : t('tools.new')
  return (
    <Dialog title={title} open={open} onClose={onClose}>
      <ServerForm
        key={server?.id ?? known?.name ?? 'new'}
        server={server}
        known={known}
        onClose={onClose}
      />
    </Dialog>
  )
}

/** The server is asked while this is saved; one that is silent is given ten seconds. */
function ServerForm({ server, known, onClose }: Omit<ServerDialogProps, 'open'>) {
  const { t } = useI18n()
  const [name, setName] = useState(server?.name ?? known?.name ?? '')
  const [url, setUrl] = useState(server?.url ?? known?.url ?? '')
  const [auth, setAuth] = useState(() => authOf(server, known))
  const save = useAction(
    (input: McpServerInput) =>
      server ? mcpServers.update(server.id, input) : mcpServers.create(input),
    { done: 'tools.saved', refresh: ['mcp-servers'], onDone: onClose },
  )
  const input = { name, url: url.trim(), enabled: server?.enabled ?? true, ...inputOf(auth) }
  const isSameUrl = server !== null && input.url === server.url && input.auth === server.auth
  const isKept = {
    header: isSameUrl && input.header_name === server.header_name && server.header_tail !== null,
    secret: isSameUrl && input.client_id === server.client_id && server.client_secret_tail !== null,
  }
  const isSame =
    isSameUrl && input.header_name === server.header_name && input.client_id === server.client_id
  const wrongName = name !== '' && !MCP_SERVER_NAME.test(name)
  const valid = name !== '' && !wrongName && input.url !== '' && isComplete(input, isKept)
  const isNewSecret = input.header_value !== null || input.client_secret !== null
  const isAnew = server !== null && (!isSame || isNewSecret)
  return (
    <Form isWhole={valid} onSend={() => save.mutate(input)}>
      <TextField
        label={t('field.name')}
        hint={t(server && name !== server.name ? 'tools.name.changed' : 'tools.name.hint')}
        problem={wrongName ? t('tools.name.wrong') : null}
        placeholder="home"
        value={name}
        maxLength={20}
        required
        autoCapitalize="none"
        onText={setName}
      />
      <TextField
        label={t('tools.url')}
        hint={t('tools.url.hint')}
        type="url"
        required
        placeholder="https://tools.example.com/mcp"
        value={url}
        maxLength={MCP_URL_CHARS_MAX}
        onText={setUrl}
      />
      <AuthFields server={server} fields={auth} onFields={setAuth} isKept={isKept} />
      {isAnew && <p className="text-note text-warn">{t('tools.anew')}</p>}
      <FormEnd
        action={t(server ? 'action.save' : 'action.add')}
        busy={save.isPending}
        onCancel={onClose}
      />
    </Form>
  )
}
