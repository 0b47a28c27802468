"""Counts of what the service did, in the text form that Prometheus reads."""

from __future__ import annotations

from collections import Counter

BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Seconds below which answers are counted."""


class Metrics:
    """Requests by service and status, their sizes and durations.

    >>> metrics = Metrics()
    >>> metrics.add("/healthz", 200, 0.002, received=0, sent=17)
    >>> print(metrics.text().splitlines()[2])
    sottovoce_requests_total{service="/healthz",status="200"} 1
    """

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._within: Counter[float] = Counter()
        self._seconds = 0.0
        self._received = self._sent = 0
        self.inside = 0
        """Requests with a body that are at work or wait."""

    def add(self, service: str, status: int, seconds: float, *, received: int, sent: int) -> None:
        """Count one answer."""
        self._requests[service, status] += 1
        self._within.update(bound for bound in BUCKETS if seconds <= bound)
        self._seconds += seconds
        self._received += received
        self._sent += sent

    def text(self) -> str:
        """All counts."""
        total = sum(self._requests.values())
        lines = [
            *_head("requests_total", "counter", "Requests answered."),
            *(
                f'sottovoce_requests_total{{service="{service}",status="{status}"}} {count}'
                for (service, status), count in sorted(self._requests.items())
            ),
            *_head("request_seconds", "histogram", "Time from request to answer."),
            *(
                f'sottovoce_request_seconds_bucket{{le="{bound:g}"}} {self._within[bound]}'
                for bound in BUCKETS
            ),
            f'sottovoce_request_seconds_bucket{{le="+Inf"}} {total}',
            f"sottovoce_request_seconds_sum {self._seconds:.6f}",
            f"sottovoce_request_seconds_count {total}",
            *_head("received_bytes_total", "counter", "Bytes of requests."),
            f"sottovoce_received_bytes_total {self._received}",
            *_head("sent_bytes_total", "counter", "Bytes of answers."),
            f"sottovoce_sent_bytes_total {self._sent}",
            *_head("requests_inside", "gauge", "Requests at work or waiting."),
            f"sottovoce_requests_inside {self.inside}",
        ]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, words: str) -> tuple[str, str]:
    return f"# HELP sottovoce_{name} {words}", f"# TYPE sottovoce_{name} {kind}"
