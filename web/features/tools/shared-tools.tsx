import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/index.ts'
import type { McpServer, Settings } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { listed } from '../../lib/listed.ts'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'
import { Unsaved } from '../../ui/unsaved.tsx'
import { McpPicker } from './mcp-picker.tsx'
import { isOf } from './offer.ts'
import { useServers } from './use-servers.ts'

/** The tools of MCP servers that conversations without an app may use. */
export function SharedTools() {
  const { t } = useI18n()
  const settings = useQuery({ queryKey: ['settings'], queryFn: api.settings.read })
  const { data } = useServers()
  const servers = data?.servers ?? []
  if (!servers.some(({ tools }) => tools.length > 0)) return null
  return (
    <Section title={t('tools.shared')} about={t('tools.shared.about')}>
      <Loaded query={settings} rows={2}>
        {(saved) => <SharedForm servers={servers} settings={saved} />}
      </Loaded>
    </Section>
  )
}

interface FormProps {
  readonly servers: readonly McpServer[]
  readonly settings: Settings
}

const isSame = (one: readonly string[], other: readonly string[]) =>
  [...one].sort().join() === [...other].sort().join()

function SharedForm({ servers, settings }: FormProps) {
  const { t, locale } = useI18n()
  const [draft, setDraft] = useState<readonly string[] | null>(null)
  const save = useAction(
    async (mcp_tools: string[]) => api.settings.save({ ...(await api.settings.read()), mcp_tools }),
    {
      done: 'tools.shared.saved',
      refresh: ['settings'],
      onDone: (_saved, sent) => setDraft((now) => (isSame(now ?? sent, sent) ? null : now)),
    },
  )
  const names = draft ?? settings.mcp_tools
  const isDirty = !isSame(names, settings.mcp_tools)
  const unknown = names.filter((name) => !servers.some((server) => isOf(server, name)))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate([...names])
  }
  return (
    <form className="card grid gap-4 p-5" onSubmit={submit}>
      <McpPicker servers={servers} names={names} onChange={setDraft} />
      {unknown.length > 0 && (
        <div className="flex flex-wrap items-center justify-between gap-3 text-note">
          <p className="min-w-0 text-warn [overflow-wrap:anywhere]">
            {t('tools.shared.gone')} {listed(unknown, locale)}
          </p>
          <Button
            size="small"
            onClick={() => setDraft(names.filter((name) => !unknown.includes(name)))}
          >
            {t('tools.shared.drop')}
          </Button>
        </div>
      )}
      <div className="flex justify-end">
        <Button type="submit" kind="primary" busy={save.isPending} disabled={!isDirty}>
          {t('action.save')}
        </Button>
      </div>
      <Unsaved isDirty={() => isDirty} />
    </form>
  )
}
