#!/usr/bin/python3
"""run.py PROGRAM OUTDIR: runs each case of OUTDIR/cases.json and writes OUTDIR/results.jsonl."""
import json, os, subprocess, sys, time
prog, out = os.path.abspath(sys.argv[1]), sys.argv[2]
env = dict(os.environ, NO_COLOR='1')
with open(out + '/results.jsonl', 'w') as f:
    for c in json.load(open(out + '/cases.json')):
        t = time.time()
        try:
            p = subprocess.run([prog, 'check', *c['args'], '--width', '100'], cwd=out, env=env, capture_output=True,
                               text=True, timeout=300, stdin=subprocess.DEVNULL)
            rc, so, se = p.returncode, p.stdout, p.stderr
        except subprocess.TimeoutExpired:
            rc, so, se = -1, '', 'timeout'
        f.write(json.dumps(dict(id=c['id'], exit=rc, seconds=round(time.time() - t, 3), stdout=so, stderr=se),
                           ensure_ascii=False) + '\n')
