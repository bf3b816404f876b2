package com.amazonaws.services.dynamodbv2;

/**
 * Delta's registry of commit coordinators can't be loaded without a class of this name, which Delta's
 * dependencies don't bring. The tests register a coordinator of their own.
 */
public interface AmazonDynamoDB {}
