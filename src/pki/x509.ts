// First of all: the library's container of algorithms asks for it while it is loaded.
import 'reflect-metadata';

/** The library that reads and writes certificates, loaded as it must be. */
export * from '@peculiar/x509';
