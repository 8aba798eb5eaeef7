"""Controls that several pages share; the address holds what they say."""
