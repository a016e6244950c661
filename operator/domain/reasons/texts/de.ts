/** German. The page loads this file only for readers of German. */
import {acceptance} from './de/acceptance.ts';
import {certificate} from './de/certificate.ts';
import {others} from './de/others.ts';
import {proof} from './de/proof.ts';
import {serving} from './de/serving.ts';
import type {Language} from './language.ts';

export const german: Language = {
  code: 'de',
  texts: {...acceptance, ...proof, ...certificate, ...serving, ...others},
  instructions: {
    title: 'Domain {hostname} verbinden',
    intro:
      'Um {hostname} zu verbinden, melden Sie sich [bei {provider}|bei Ihrem DNS-Anbieter] an. ' +
      'Öffnen Sie die DNS-Einstellungen von [{zone}|Ihrer Domain]. Legen Sie jeden Eintrag unten an.',
    record: 'Eintrag {n}',
    type: 'Typ',
    name: 'Name',
    value: 'Wert',
    ttl: 'TTL',
    seconds: '{n} Sekunden',
    emptyName: '(leer lassen)',
    alias:
      'Manche Anbieter nennen diesen Typ ANAME. Bietet Ihr Anbieter keinen von beiden an, fragen Sie den Support nach den Adressen.',
    noRecords: 'Zurzeit ist kein DNS-Eintrag nötig.',
    nextSteps: 'Nächster Schritt',
    howLong: 'Wie lange es dauert',
  },
};
