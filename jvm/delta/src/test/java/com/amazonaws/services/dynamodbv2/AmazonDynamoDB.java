package com.amazonaws.services.dynamodbv2;

/**
 * Delta's registry of commit coordinators can't be loaded without a class of this name, which Delta's
 * dependencies don't include. The tests register their own coordinator.
 */
public interface AmazonDynamoDB {}
