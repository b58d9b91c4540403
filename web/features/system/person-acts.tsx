import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { Person } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { SecretDialog } from '../../ui/secret.tsx'

type Acted = Pick<Person, 'id' | 'email' | 'disabled' | 'operator'>

interface Asked {
  readonly what: 'disable' | 'delete'
  readonly person: Acted
}

export type PersonActs = ReturnType<typeof usePersonActs>['acts']

/** What an operator does with people, and its dialogs: once for all rows, which are many. */
export function usePersonActs() {
  const { t } = useI18n()
  const [asked, setAsked] = useState<Asked | null>(null)
  const [link, setLink] = useState<{ readonly email: string; readonly url: string } | null>(null)
  const close = () => setAsked(null)
  const change = useAction(({ id, disabled }: Acted) => api.system.disable(id, !disabled), {
    refresh: ['people'],
    onDone: close,
    onGone: close,
    several: true,
  })
  const remove = useAction(({ id }: Acted) => api.system.removePerson(id), {
    done: 'system.people.deleted',
    refresh: ['people', 'me'],
    onDone: close,
    onGone: close,
  })
  const operate = useAction(({ id, operator }: Acted) => api.system.operate(id, !operator), {
    done: 'system.saved',
    refresh: ['people'],
    several: true,
  })
  const signOut = useAction(({ id }: Acted) => api.system.signOut(id), {
    done: 'people.signed.out',
    several: true,
  })
  const makeLink = useAction(({ id }: Acted) => api.system.personLink(id), {
    onDone: ({ url }, { email }) => setLink({ email, url }),
  })
  const { email = '' } = asked?.person ?? {}
  const confirm = () => {
    if (asked) (asked.what === 'disable' ? change : remove).mutate(asked.person)
  }
  return {
    acts: {
      turn: (person: Acted) =>
        person.disabled ? change.mutate(person) : setAsked({ what: 'disable', person }),
      askDelete: (person: Acted) => setAsked({ what: 'delete', person }),
      operate: operate.mutate,
      signOut: signOut.mutate,
      makeLink: makeLink.mutate,
      /** Whether a person is being disabled or enabled. */
      isTurning: ({ id }: Acted) => change.isPending && change.variables.id === id,
    },
    dialogs: (
      <>
        <SecretDialog
          title={t('people.link.of', { email: link?.email ?? '' })}
          secret={link?.url ?? null}
          onClose={() => setLink(null)}
        >
          {t('people.link.about')}
        </SecretDialog>
        <Confirm
          title={t(
            asked?.what === 'disable' ? 'system.people.disable.of' : 'system.people.delete.of',
            { email },
          )}
          loss={t(
            asked?.what === 'disable' ? 'system.people.disable.loss' : 'system.people.delete.loss',
          )}
          action={t(asked?.what === 'disable' ? 'system.people.disable' : 'action.delete')}
          open={asked !== null}
          busy={change.isPending || remove.isPending}
          onConfirm={confirm}
          onClose={close}
        />
      </>
    ),
  }
}
