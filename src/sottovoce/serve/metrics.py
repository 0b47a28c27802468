"""Request counters of the service, in the text format that Prometheus reads."""

from __future__ import annotations

from collections import Counter

BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Upper bounds of the histogram of durations, in seconds."""


class Metrics:
    """Requests by route and status, their sizes and durations.

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

    def add(self, route: str, status: int, seconds: float, *, received: int, sent: int) -> None:
        """Count one answered request.

        Parameters
        ----------
        route : str
            The path as it is declared, such as ``/v1/audits/{name}/report``; never the path that
            the client sent.
        status : int
            HTTP status of the answer.
        seconds : float
            Time from the request to the end of the answer.
        received, sent : int
            Bytes of the request's and the answer's body.
        """
        self._requests[route, status] += 1
        self._within.update(bound for bound in BUCKETS if seconds <= bound)
        self._seconds += seconds
        self._received += received
        self._sent += sent

    def text(self, *, active: int = 0) -> str:
        """All counters in the Prometheus text format.

        Parameters
        ----------
        active : int
            Number of requests that are being computed or wait.
        """
        total = sum(self._requests.values())
        lines = [
            *_header("requests_total", "counter", "Requests answered."),
            *(
                f'sottovoce_requests_total{{service="{route}",status="{status}"}} {count}'
                for (route, status), count in sorted(self._requests.items())
            ),
            *_header("request_seconds", "histogram", "Time from request to answer."),
            *(
                f'sottovoce_request_seconds_bucket{{le="{bound:g}"}} {self._within[bound]}'
                for bound in BUCKETS
            ),
            f'sottovoce_request_seconds_bucket{{le="+Inf"}} {total}',
            f"sottovoce_request_seconds_sum {self._seconds:.6f}",
            f"sottovoce_request_seconds_count {total}",
            *_header("received_bytes_total", "counter", "Bytes of requests."),
            f"sottovoce_received_bytes_total {self._received}",
            *_header("sent_bytes_total", "counter", "Bytes of answers."),
            f"sottovoce_sent_bytes_total {self._sent}",
            *_header("requests_inside", "gauge", "Requests being computed or waiting."),
            f"sottovoce_requests_inside {active}",
        ]
        return "\n".join(lines) + "\n"


def _header(name: str, kind: str, help_text: str) -> tuple[str, str]:
    return f"# HELP sottovoce_{name} {help_text}", f"# TYPE sottovoce_{name} {kind}"
