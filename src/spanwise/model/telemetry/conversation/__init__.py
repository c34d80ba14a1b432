"""Messages of a conversation: the formats in which SDKs send them, and the one for all."""
