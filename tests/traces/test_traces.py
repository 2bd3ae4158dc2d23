"""A producer in Python with OpenTelemetry's SDK and workers in C++ are one trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.sdk")

import tableq  # noqa: E402
from opentelemetry import propagate, trace  # noqa: E402
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider  # noqa: E402
from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: E402
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter  # noqa: E402

finished = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(finished))
tracer = provider.get_tracer("test")


def send(url: str, *payloads: str) -> ReadableSpan:
    """Adds messages inside a span of a producer. @return the span."""
    with tableq.open(url) as db:
        jobs = db.claim("jobs")
        with tracer.start_as_current_span("request"):
            headers: dict[str, str] = {}
            propagate.inject(headers)
            for each in payloads:
                jobs.put(each, headers=headers)
    return finished.get_finished_spans()[-1]


def ids_of(span: ReadableSpan) -> tuple[str, str]:
    return trace.format_trace_id(span.context.trace_id), trace.format_span_id(span.context.span_id)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite://{tmp_path}/queues.db"


def test_a_python_producer_and_a_worker_in_cpp_are_one_trace(url: str) -> None:
    trace_id, span_id = ids_of(send(url, "a", "b"))
    out = subprocess.run(
        [os.environ["TABLEQ_TRACED_WORKER"], url], check=True, capture_output=True, text=True
    )
    spans = [line.split() for line in out.stdout.splitlines()]
    assert [each[:2] for each in spans] == [[trace_id, span_id]] * 2
    # The handler's own messages continue its span, and come back to Python.
    with tableq.open(url) as db:
        for own, job in zip(spans, db.claim("next").take(2)):
            context = trace.get_current_span(propagate.extract(job.headers)).get_span_context()
            assert trace.format_trace_id(context.trace_id) == trace_id
            assert trace.format_span_id(context.span_id) == own[2]


def test_a_command_of_tableq_work_goes_on_with_the_trace(url: str) -> None:
    trace_id, span_id = ids_of(send(url, "a"))
    program = (
        "import os; from opentelemetry import propagate, trace\n"
        "context = propagate.extract({'traceparent': os.environ['TRACEPARENT']})\n"
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "span = TracerProvider().get_tracer('t').start_span('handle', context)\n"
        "print(trace.format_trace_id(span.context.trace_id), trace.format_span_id(span.parent.span_id))"
    )
    out = subprocess.run(
        [os.environ["TABLEQ_COMMAND"], "work", "jobs", "--until-empty", "--", sys.executable, "-c", program],
        env={**os.environ, "TABLEQ_DB": url},
        check=True,
        capture_output=True,
        text=True,
    )
    assert out.stdout.split() == [trace_id, span_id]
