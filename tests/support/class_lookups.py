"""Caches py4j's class lookups."""

from py4j import protocol
from py4j.clientserver import JavaClient
from py4j.java_gateway import GatewayClient

_LOOKUP = protocol.REFLECTION_COMMAND_NAME + protocol.REFL_GET_UNKNOWN_SUB_COMMAND_NAME


def remember() -> None:
    """Ask the JVM once what a name is: a package or a class.

    py4j asks anew each time. For ``jvm.py4j.reflection.TypeUtil`` it asks three times, and the JVM
    looks for a class ``py4j`` in all of Spark's 277 jars before it says that this is a package.
    PySpark makes 20 such calls for each exception: 4 % of the tests' time.
    """
    for client in (GatewayClient, JavaClient):
        if "send_command" in vars(client):
            client.send_command = _remembering(client.send_command)


def _remembering(send_command):
    def send(self, command, *arguments, **named):
        if not command.startswith(_LOOKUP):
            return send_command(self, command, *arguments, **named)
        known = self.__dict__.setdefault("_zcube_known_names", {})
        if command not in known:
            answer = send_command(self, command, *arguments, **named)
            if not answer.startswith((protocol.SUCCESS_PACKAGE, protocol.SUCCESS_CLASS)):
                return answer
            known[command] = answer
        return known[command]

    return send
