package endpoint

// ConnectorTypeNGTS is a stand-in for the constant of vcert 5.13 (see package ngts). vcert 5.12 refuses a client of this type.
const ConnectorTypeNGTS ConnectorType = -1
