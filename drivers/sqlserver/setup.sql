-- Run at the start of each session of tableq: one batch, one round trip.
SET NOCOUNT ON;
-- Any error ends the transaction, so that nothing of it is committed by mistake.
SET XACT_ABORT ON;
-- READPAST is an error at other levels, and a pooled session may have kept one.
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- Milliseconds.
SET LOCK_TIMEOUT 5000;
-- A client library may have set less, and the server would silently cut payloads.
SET TEXTSIZE 2147483647;
-- A server may have other defaults: a statement would stop after so many rows, or leave a transaction open.
SET ROWCOUNT 0;
SET IMPLICIT_TRANSACTIONS OFF;
-- Filtered indexes need these.
SET ANSI_NULLS ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET QUOTED_IDENTIFIER ON;
SET NUMERIC_ROUNDABORT OFF;
-- Azure SQL always reports version 12, and is always new enough.
IF CAST(SERVERPROPERTY('EngineEdition') AS int) NOT IN (5, 8, 12)
  AND COALESCE(CAST(SERVERPROPERTY('ProductMajorVersion') AS int), 0) < 13
  THROW 52016, N'tableq needs SQL Server 2016 or later', 1;
IF EXISTS (SELECT 1 FROM sys.databases WHERE name = DB_NAME() AND compatibility_level < 130)
  THROW 52130, N'tableq needs a database of compatibility level 130 or higher', 1;
