import { type FormEvent, useState } from 'react'
import {
  MCP_HEADER_NAME_CHARS_MAX,
  MCP_HEADER_VALUE_CHARS_MAX,
  MCP_SERVER_NAME,
  MCP_URL_CHARS_MAX,
} from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { McpServer, McpServerInput } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/form.tsx'

interface ServerDialogProps {
  /** Null creates a new server. */
  readonly server: McpServer | null
  readonly open: boolean
  readonly onClose: () => void
}

export function ServerDialog({ server, open, onClose }: ServerDialogProps) {
  const { t } = useI18n()
  const title = server ? t('tools.edit', { name: server.name }) : t('tools.new')
  return (
    <Dialog title={title} open={open} onClose={onClose}>
      <ServerForm key={server?.id ?? 'new'} server={server} onClose={onClose} />
    </Dialog>
  )
}

/** The server is asked while this is saved; one that is silent is given ten seconds. */
function ServerForm({ server, onClose }: Omit<ServerDialogProps, 'open'>) {
  const { t } = useI18n()
  const [name, setName] = useState(server?.name ?? '')
  const [url, setUrl] = useState(server?.url ?? '')
  const [header, setHeader] = useState(server?.header_name ?? '')
  const [value, setValue] = useState('')
  const save = useAction(
    (input: McpServerInput) =>
      server ? api.mcpServers.update(server.id, input) : api.mcpServers.create(input),
    { done: 'tools.saved', refresh: ['mcp-servers'], onDone: onClose },
  )
  const header_name = header.trim() || null
  const isSame = server !== null && url.trim() === server.url && header_name === server.header_name
  const isKept = isSame && server.header_tail !== null
  const wrongName = name !== '' && !MCP_SERVER_NAME.test(name)
  const lacksValue = header_name !== null && value === '' && !isKept
  const valid = name !== '' && !wrongName && url.trim() !== '' && !lacksValue
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const enabled = server?.enabled ?? true
    const header_value = header_name === null ? null : value || null
    if (valid) save.mutate({ name, url: url.trim(), header_name, header_value, enabled })
  }
  const isAnew = server !== null && (!isSame || value !== '')
  return (
    <form className="grid gap-5" onSubmit={submit}>
      <TextField
        label={t('field.name')}
        hint={t(server && name !== server.name ? 'tools.name.changed' : 'tools.name.hint')}
        problem={wrongName ? t('tools.name.wrong') : null}
        placeholder="home"
        value={name}
        maxLength={20}
        autoCapitalize="none"
        onText={setName}
      />
      <TextField
        label={t('tools.url')}
        hint={t('tools.url.hint')}
        type="url"
        placeholder="https://tools.example.com/mcp"
        value={url}
        maxLength={MCP_URL_CHARS_MAX}
        onText={setUrl}
      />
      <div className="grid items-start gap-5 sm:grid-cols-[2fr_3fr]">
        <TextField
          label={t('tools.header')}
          hint={t('tools.header.hint')}
          placeholder="Authorization"
          value={header}
          maxLength={MCP_HEADER_NAME_CHARS_MAX}
          autoCapitalize="none"
          onText={setHeader}
        />
        <TextField
          label={t('tools.value')}
          hint={t(server?.header_tail && lacksValue ? 'tools.value.again' : 'tools.value.hint')}
          type="password"
          autoComplete="off"
          disabled={header_name === null}
          placeholder={isKept ? `•••• ${server.header_tail}` : 'Bearer …'}
          value={value}
          maxLength={MCP_HEADER_VALUE_CHARS_MAX}
          onText={setValue}
        />
      </div>
      {isAnew && <p className="text-note text-warn">{t('tools.anew')}</p>}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('action.cancel')}</Button>
        <Button type="submit" kind="primary" busy={save.isPending} disabled={!valid}>
          {t(server ? 'action.save' : 'action.add')}
        </Button>
      </div>
    </form>
  )
}
