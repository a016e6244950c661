/** What `kubectl doorplate check` says of hostnames that the API server would refuse. */
import {expect, test} from '@jest/globals';
import {subjectsIn, withHostnames} from '../../../../operator/cli/check/subjects.ts';

const place = {namespace: 'acme', project: 'docs', standing: undefined};

test('A hostname with an emoji is refused with the ASCII form to write', () => {
  expect(() => withHostnames(['💩.la'], place)).toThrow(
    /^the CustomDomain docs would be refused: spec\.primary: must be .+ in its ASCII form \(xn--\); write 💩\.la as xn--ls8h\.la, the ASCII form .+ browsers show$/,
  );
});

test('So is each of a file', () => {
  const text = JSON.stringify({
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'CustomDomain',
    metadata: {name: 'docs'},
    spec: {projectRef: {name: 'docs'}, primary: 'docs.example.com', redirects: [{from: '☺.example'}, {from: 7}]},
  });
  expect(() => subjectsIn([{file: 'a.yaml', text}], 'acme')).toThrow(/; write ☺\.example as xn--74h\.example, /);
});

test('A refusal of a file blames no other field manager: the file alone is read', () => {
  const text = JSON.stringify({
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'CustomDomain',
    metadata: {name: 'docs'},
    spec: {projectRef: {name: 'docs'}, primary: 'docs.example.com', redirects: [{from: 'docs.example.com'}]},
  });
  expect(() => subjectsIn([{file: 'a.yaml', text}], 'acme')).toThrow(
    /: the redirect from docs\.example\.com must not come from the primary: use another hostname, or remove the redirect$/,
  );
});

test('One without an ASCII form has none named', () => {
  expect(() => withHostnames(['👨‍👩‍👧.la'], place)).toThrow(/; joined emoji have no ASCII form/);
});

test('What has no such character gets no advice', () => {
  expect(() => withHostnames(['my_docs.example.com'], place)).toThrow(
    /^the CustomDomain docs would be refused: spec\.primary: must be [^;]+ in its ASCII form \(xn--\)$/,
  );
});
