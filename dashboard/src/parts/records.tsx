/** The records to create, as the form of a DNS provider asks for them, and the records that DNS has now. */
import {formOf} from '../../../operator/domain/verification/provider-forms.ts';
import type {DnsRecord, Host} from '../api.ts';
import {helpOf} from '../help-pages.ts';
import {useLanguage} from '../language.ts';
import {instructionsOf} from '../words.ts';
import {Copy, Instructions} from './copy.tsx';

/** Records that exist, or could not be checked. */
export const exist = (records: Host['records']): boolean =>
  records.every(({state}) => state === 'Found' || state === 'Unknown');

/** The place to create the records: the provider, or else the name servers that identify it. */
export function usePlace(zone: Host['zone']): string {
  const {records: texts} = useLanguage().texts;
  if (zone === undefined) return texts.yourProvider;
  const {provider, nameServers} = zone;
  return provider ?? texts.yourProviderWith(nameServers.slice(0, 2).join(', '), Math.max(0, nameServers.length - 2));
}

function Found({record: {state, observed, type, name, value}}: {record: DnsRecord}) {
  const {records: texts} = useLanguage().texts;
  if (state === 'Found') return <span className="seen good">{texts.correct}</span>;
  if (state === 'Unknown') return <span className="seen">{texts.notChecked}</span>;
  if (observed.length === 0) return <span className="seen bad">{texts.nothing}</span>;
  const same = observed.includes(`${type} ${value}`);
  return (
    <ul className={same ? 'seen' : 'seen bad'} aria-label={texts.foundAt(name)}>
      {observed.map((one) => (
        <li key={one}>
          <code>{one}</code>
        </li>
      ))}
    </ul>
  );
}

/** The provider's choice of a type instead of a CNAME, in words. */
function Note({record: {type, note}, provider}: {record: DnsRecord; provider: string | undefined}) {
  const {texts, reasons} = useLanguage();
  if (type === 'ALIAS' && note === undefined) return <small>{reasons.instructions.alias}</small>;
  if (note === undefined || provider === undefined) return null;
  const isAddress = type === 'A' || type === 'AAAA';
  return <small>{isAddress ? texts.records.addresses(provider) : texts.records.flattened(provider)}</small>;
}

function RecordForm({record, records, host: {hostname, zone}}: {record: DnsRecord; records: DnsRecord[]; host: Host}) {
  const {texts, reasons} = useLanguage();
  const {type, value, ttl} = record;
  const {labels, name} = formOf(record, zone?.provider, reasons);
  const isOnly = records.filter((other) => other.type === type).length === 1;
  const what = texts.records.record(isOnly ? type : `${type} ${value}`, hostname);
  return (
    <div className="form" role="group" aria-label={what}>
      <dl>
        <div data-field="type">
          <dt>{labels.type}</dt>
          <dd>
            <span className="value">{type}</span>
          </dd>
        </div>
        <div data-field="name">
          <dt>{labels.name}</dt>
          <dd className="value">
            {name === '' ? (
              reasons.instructions.emptyName
            ) : (
              <Copy text={name} what={texts.records.field(labels.name, what)} />
            )}
          </dd>
        </div>
        <div data-field="value">
          <dt>{labels.value}</dt>
          <dd className="value">
            <Copy text={value} what={texts.records.field(labels.value, what)} />
          </dd>
        </div>
        <div data-field="ttl">
          <dt>{labels.ttl}</dt>
          <dd>
            <span className="value">{ttl}</span>
          </dd>
        </div>
        <div data-field="found">
          <dt>{texts.records.foundNow}</dt>
          <dd>
            <Found record={record} />
          </dd>
        </div>
      </dl>
      <Note record={record} provider={zone?.provider} />
    </div>
  );
}

export function Records({host, primary}: {host: Host; primary: string | null}) {
  const {texts} = useLanguage();
  const {records, hostname, zone} = host;
  const place = usePlace(zone);
  if (records.length === 0) return null;
  const areThere = records.every(({state}) => state === 'Found');
  const say = areThere ? texts.records.keep : texts.records.create;
  const help = helpOf(zone?.provider);
  return (
    <div className="records">
      <p>{say(records.length, records[0]!.zone, place)}</p>
      {help !== undefined && !areThere && (
        <p>
          <a href={help} rel="noreferrer" target="_blank">
            {texts.instructions.help(zone!.provider!)}
          </a>
        </p>
      )}
      <div className="forms" role="group" aria-label={texts.records.label(hostname)}>
        {records.map((record) => (
          <RecordForm key={record.type + record.name + record.value} {...{record, records, host}} />
        ))}
      </div>
      {!areThere && <Instructions domain={hostname} text={instructionsOf(host, primary)} />}
    </div>
  );
}
